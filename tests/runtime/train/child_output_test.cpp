#include "shoal/runtime/train/child_output.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace shoal::train
