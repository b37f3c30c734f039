#include "shoal/runtime/tools/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/tools/json_lines.h"
#include "shoal/runtime/tools/session.h"

namespace shoal::tools {
namespace {

constexpr int kSuccess = 0;
constexpr int kFailure = 1;
constexpr int kWrongUse = 2;

struct Subcommand {
  CommandSpec spec;
  void (*run)(Session&);
};

std::vector<Subcommand> subcommands() {
  return {{train_command(), run_train},
          {plan_command(), run_plan},
          {bench_step_command(), run_bench_step},
          {doctor_command(), run_doctor}};
}

void print_error(const std::string& text) {
  const std::string line = "shoal: " + text + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

// Tells people, and whoever reads the JSON lines; returns the exit status.
int report(const Error& error, bool is_json, bool has_started, Output& output) {
  print_error(error.rank() < 0 ? error.what() : fmt::format("rank {}: {}", error.rank(), error.what()));
  if (is_json && error.operation() != "output") {
    try {
      output.write_line(error_line(error));
    } catch (const Error& second) {
      print_error(second.what());
      return kFailure;
    }
  }
  const bool is_wrong_use = error.code() == ErrorCode::InvalidArgument || error.code() == ErrorCode::Unsupported;
  return is_wrong_use && !has_started ? kWrongUse : kFailure;
}

// A rank's thread that is stuck cannot be ended, and may use what the end of main destroys: only _Exit is safe then.
void end_if_stuck(const Error& error) {
  if (error.code() == ErrorCode::Timeout && error.operation() == "launch_ranks") std::_Exit(kFailure);
}

void run_subcommand(const std::vector<Subcommand>& commands, Session& session) {
  for (const Subcommand& command : commands) {
    if (command.spec.name == session.line.command) command.run(session);
  }
}

int run(const std::vector<std::string>& arguments, Output& output) {
  bool is_json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  bool has_started = false;
  try {
    const std::vector<Subcommand> commands = subcommands();
    std::vector<CommandSpec> specs;
    for (const Subcommand& command : commands) specs.push_back(command.spec);
    const CommandLine line = parse_command_line(specs, arguments);
    if (!line.help.empty()) {
      output.write(line.help);
      return kSuccess;
    }
    is_json = line.has("json");
    Session session{line, output, is_json};
    try {
      run_subcommand(commands, session);
    } catch (...) {
      has_started = session.has_started;
      throw;
    }
    return session.was_cut_short ? kFailure : kSuccess;
  } catch (const Error& error) {
    const int status = report(error, is_json, has_started, output);
    end_if_stuck(error);
    return status;
  } catch (const std::bad_alloc&) {
    return report(Error(ErrorCode::OutOfMemory, "[shoal] the host has no memory left"), is_json, has_started, output);
  } catch (const std::exception& error) {
    return report(Error(ErrorCode::Internal, fmt::format("[shoal] {}", error.what())), is_json, has_started, output);
  }
}

}  // namespace

void Session::warn(std::string_view text) {
  if (!is_json) return print_error(fmt::format("warning: {}", text));
  try {
    output.write_line(warning_line(text));
  } catch (const Error&) {
    // The next event meets the same failure where it can be reported.
    return;
  }
}

int run_program(int argc, char** argv) {
  // A closed pipe is a failed write like any other.
  std::signal(SIGPIPE, SIG_IGN);
  Output output(STDOUT_FILENO);
  return run(std::vector<std::string>(argv + std::min(1, argc), argv + argc), output);
}

}  // namespace shoal::tools
