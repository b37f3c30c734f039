#pragma once

#include <string_view>
#include <vector>

#include "shoal/runtime/tools/command_line.h"
#include "shoal/runtime/tools/output.h"
#include "shoal/runtime/train/train_config.h"

namespace shoal::tools {

/// What a subcommand gets from the program. It throws Error for the program to report and to turn into an exit status.
struct Session {
  const CommandLine& line;
  Output& output;  // standard output
  bool is_json = false;
  bool has_started = false;    // from here on nothing is wrong use: a failure is a failure
  bool was_cut_short = false;  // what was done is not what was asked for: exit status 1

  /// A warning event, or a line on standard error.
  void warn(std::string_view text);
};

void run_train(Session& session);
void run_plan(Session& session);
void run_doctor(Session& session);
void run_bench_step(Session& session);

CommandSpec train_command();
CommandSpec plan_command();
CommandSpec doctor_command();
CommandSpec bench_step_command();

/// The flags of TrainConfig, and --config.
std::vector<FlagSpec> config_flag_specs();
/// Reads --config where given, then sets the flags, which win. Not resolved.
train::TrainConfig read_config(const CommandLine& line);

}  // namespace shoal::tools
