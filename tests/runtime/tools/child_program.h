#pragma once

#include <csignal>
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
  std::string stdout_path = {};  // empty: captured
  bool has_terminal = false;     // standard output is one
  /// Standard output is a pipe that is read only once it is full and the signals were sent: the program cannot end by
  /// itself before that.
  bool is_read_late = false;
  std::string program_folder = {};  // searched before PATH
  std::vector<int> signals = {SIGINT};
  /// Called with all standard output so far, again and again; true: the signals are sent, once.
  std::function<bool(const std::string& out)> interrupts_at = {};
};

/// Runs the program with standard input empty. A run that takes longer than a minute is killed.
ProgramRun run_shoal(const std::vector<std::string>& arguments, const ProgramOptions& options = {});

}  // namespace shoal::test
