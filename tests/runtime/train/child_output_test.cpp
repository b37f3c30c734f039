#include "shoal/runtime/train/child_output.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "shoal/tests/runtime/train/expect_error.h"

namespace shoal::train {
namespace {

using test::expect_error;

std::string run(const std::string& script, const ChildLimits& limits = {}) {
  const auto bytes = read_child_output({"sh", "-c", script}, limits, "install it");
  return {bytes.begin(), bytes.end()};
}

TEST(ReadChildOutput, StandardOutput_IsReturned) { EXPECT_EQ(run("printf 'a\\nb'"), "a\nb"); }

TEST(ReadChildOutput, StandardErrorIsDroppedAndStandardInputIsEmpty) {
  EXPECT_EQ(run("echo lost >&2; cat; echo kept"), "kept\n");
}

TEST(ReadChildOutput, MoreThanAPipeHolds_IsRead) { EXPECT_EQ(run("head -c 300000 /dev/zero").size(), 300000u); }

TEST(ReadChildOutput, NoSuchProgram_NamesItAndTheAdvice) {
  expect_error(ErrorCode::InvalidArgument, {"shoal-no-such-program", "install it"},
               [] { read_child_output({"shoal-no-such-program"}, {}, "install it"); });
}

TEST(ReadChildOutput, Failure_NamesTheAdvice) {
  expect_error(ErrorCode::InvalidArgument, {"'sh' failed", "install it"}, [] { run("echo some; exit 3"); });
}

TEST(ReadChildOutput, EndlessOutput_IsCutOff) {
  ChildLimits limits;
  limits.max_bytes = 100000;
  expect_error(ErrorCode::Corrupt, {"more than 100000 bytes"}, [&] { run("cat /dev/zero", limits); });
}

TEST(ReadChildOutput, SilentChild_TimesOut) {
  ChildLimits limits;
  limits.deadline = std::chrono::milliseconds(50);
  expect_error(ErrorCode::Timeout, {"50 ms"}, [&] { run("exec sleep 60", limits); });
}

TEST(ReadChildOutput, ChildThatOutlivesItsOutput_TimesOut) {
  ChildLimits limits;
  limits.deadline = std::chrono::milliseconds(50);
  expect_error(ErrorCode::Timeout, {"50 ms"}, [&] { run("exec sleep 60 >&-", limits); });
}

// Puts back what this process does with a signal.
class SignalSetting {
 public:
  SignalSetting(int signal, void (*handler)(int)) : signal_(signal), before_(std::signal(signal, handler)) {}
  ~SignalSetting() { std::signal(signal_, before_); }

 private:
  int signal_;
  void (*before_)(int);
};

TEST(ReadChildOutput, SignalsOfThisProcess_AreNotTheChilds) {
  const SignalSetting ignored(SIGPIPE, SIG_IGN);
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  expect_error(ErrorCode::InvalidArgument, {"wait status 13"}, [] { run("kill -PIPE $$; echo alive"); });
  expect_error(ErrorCode::InvalidArgument, {"wait status 15"}, [] { run("kill -TERM $$; echo alive"); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(ReadChildOutput, WhereNobodyLearnsHowChildrenEnd_TheirOutputCounts) {
  const SignalSetting ignored(SIGCHLD, SIG_IGN);
  EXPECT_EQ(run("echo some"), "some\n");
  EXPECT_EQ(run("echo some; exec >&-; exit 3"), "some\n");
}

TEST(ReadChildOutput, StopRequest_EndsTheChild) {
  std::stop_source source;
  ChildLimits limits;
  limits.stop = source.get_token();
  std::thread stopper([&] { source.request_stop(); });
  expect_error(ErrorCode::Aborted, {"'sh'"}, [&] { run("exec sleep 60", limits); });
  stopper.join();
  expect_error(ErrorCode::Aborted, {"'sh'"}, [&] { run("exec sleep 60", limits); });
}

}  // namespace
}  // namespace shoal::train
