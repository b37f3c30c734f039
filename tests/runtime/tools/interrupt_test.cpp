#include "shoal/runtime/tools/interrupt.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "shoal/tests/runtime/tools/child_program.h"
#include "shoal/tests/runtime/train/temp_folder.h"

namespace shoal::tools {
namespace {

using Json = nlohmann::ordered_json;
using test::ProgramOptions;
using test::ProgramRun;
using test::run_shoal;

const std::vector<std::string> kLongTrain = {"train", "--model",   "chain-2x64", "--ranks", "2",        "--batch",
                                             "8",     "--threads", "1",          "--steps", "100000000"};

std::vector<std::string> with_json(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  return arguments;
}

TEST(Interrupt, First_EndsBetweenStepsWithASummaryThatSaysSo) {
  ProgramOptions options;
  options.interrupts_at = [](const std::string& out) { return out.find("\"step\":3,") != std::string::npos; };
  const ProgramRun run = run_shoal(with_json(kLongTrain), options);
  EXPECT_EQ(run.status, 1) << run.err;
  const std::vector<std::string> lines = run.out_lines();
  ASSERT_GE(lines.size(), 6u) << run.out;
  Json done = Json::parse(lines.back());
  EXPECT_EQ(done["event"], "done");
  EXPECT_EQ(done["stopped"], true);
  EXPECT_LT(done["steps"], 100000000);
  Json warning = Json::parse(lines[lines.size() - 2]);
  EXPECT_EQ(warning["event"], "warning");
  const std::string after = "after step " + done["steps"].dump() + " of 100000000";
  EXPECT_NE(warning["message"].get<std::string>().find(after), std::string::npos) << warning;
}

TEST(Interrupt, FirstInATextRun_WarnsOnStandardError) {
  ProgramOptions options;
  options.signals = {SIGTERM};
  options.interrupts_at = [](const std::string& out) { return out.find("step 1/") != std::string::npos; };
  const ProgramRun run = run_shoal(kLongTrain, options);
  EXPECT_EQ(run.status, 1);
  EXPECT_TRUE(run.err.starts_with("shoal: warning: stopped by a signal after step ")) << run.err;
  EXPECT_EQ(run.out.find("warning"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("stopped after"), std::string::npos) << run.out;
}

// Nobody reads what the run prints, so that it cannot end by itself.
TEST(Interrupt, Second_EndsAtOnce) {
  ProgramOptions options;
  options.is_read_late = true;
  options.signals = {SIGINT, SIGTERM};
  const ProgramRun run = run_shoal(with_json(kLongTrain), options);
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.err, "shoal: ended at once by a second signal\n");
  EXPECT_EQ(run.out.find("\"done\""), std::string::npos) << run.out;
}

// A pipe with a name, which is at its end once everyone who had it open to write has ended.
class NamedPipe {
 public:
  explicit NamedPipe(const std::string& path) {
    if (::mkfifo(path.c_str(), 0600) == 0) descriptor_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  }
  ~NamedPipe() { ::close(descriptor_); }

  bool has_text() { return wait(0) & POLLIN; }
  // Takes what is there; whether nobody is left to write more, within so many milliseconds.
  bool ends_within(int milliseconds) {
    char text[16];
    while (::read(descriptor_, text, sizeof text) > 0) continue;
    return wait(milliseconds) & POLLHUP;
  }

 private:
  int wait(int milliseconds) {
    pollfd waited{descriptor_, POLLIN, 0};
    ::poll(&waited, 1, milliseconds);
    return waited.revents;
  }

  int descriptor_ = -1;
};

// While the data is read, from a program that never ends.
TEST(Interrupt, FirstBeforeTheRun_EndsAtOnceAndWithTheChild) {
  const test::TempFolder folder;
  NamedPipe child(folder.file("life"));
  const std::string program =
      folder.write_text("bible", "#!/bin/sh\nexec 3>" + folder.file("life") + "\necho begun >&3\nexec sleep 50\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  ProgramOptions options;
  options.program_folder = folder.path();
  options.signals = {SIGTERM};
  options.interrupts_at = [&](const std::string&) { return child.has_text(); };
  const ProgramRun run = run_shoal({"train", "--model", "gpt-1x64", "--data", "text", "--steps", "1"}, options);
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.err, "shoal: ended by a signal before the run began\n");
  EXPECT_TRUE(child.ends_within(20000)) << "the child goes on";
}

}  // namespace
}  // namespace shoal::tools
