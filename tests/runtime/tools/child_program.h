#pragma once

#include <functional>
#include <string>
#include <vector>

namespace shoal::test {

/// What the built program did.
struct ProgramRun {
  int status = -1;  // exit status; 1000 + signal where a signal ended it
  std::string out;
  std::string err;

  std::vector<std::string> out_lines() const;
};

struct ProgramOptions {
  std::string stdout_path;  // empty: captured
  /// Called with all standard output so far whenever there is more; true: SIGINT is sent, once.
  std::function<bool(const std::string& out)> interrupts_at;
};

/// Runs the program with standard input empty. A run that takes longer than a minute is killed.
ProgramRun run_shoal(const std::vector<std::string>& arguments, const ProgramOptions& options = {});

}  // namespace shoal::test
