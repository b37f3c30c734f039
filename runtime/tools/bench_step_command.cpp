#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/tools/config_flags.h"
#include "shoal/runtime/tools/json_lines.h"
#include "shoal/runtime/tools/session.h"
#include "shoal/runtime/tools/step_bench.h"

namespace shoal::tools {
namespace {

constexpr std::int64_t kMaxCount = 1'000'000;
constexpr std::array<const char*, 6> kConfigFlags = {"strategy", "ranks", "threads", "dtype", "device", "deadline"};

// Those flags that are a training run's too, checked as there.
train::TrainConfig read_shared_flags(const CommandLine& line) {
  train::TrainConfig config;
  config.threads = 1;
  for (const char* name : kConfigFlags) {
    if (line.has(name)) set_config_flag(config, name, line.values.at(name), "--");
  }
  return train::resolve_config(config);
}

std::int64_t read_count(const CommandLine& line, const char* name, std::int64_t usual, std::int64_t least) {
  if (!line.has(name)) return usual;
  const std::int64_t count = parse_whole_number(fmt::format("--{}", name), line.values.at(name));
  if (count < least || count > kMaxCount) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[bench] --{} {} is out of range; {} to {} works", name, count, least, kMaxCount));
  }
  return count;
}

void read_counts(const CommandLine& line, StepBenchOptions& options) {
  options.steps = read_count(line, "steps", options.steps, 1);
  options.warmup = read_count(line, "warmup", options.warmup, 0);
  if (options.steps + options.warmup < kVerifiedSteps) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[bench] --steps {} after --warmup {} are too few to verify; {} together are enough",
                     options.steps, options.warmup, kVerifiedSteps));
  }
}

}  // namespace

CommandSpec bench_step_command() {
  CommandSpec spec{"bench step", "a training step of a workload of the PyTorch FSDP2 comparison, as a JSON row", {}};
  spec.flags.push_back({"workload", "NAME", fmt::format("{}; gpt-6x384", fmt::join(workload_names(), ", "))});
  for (FlagSpec flag : config_flag_specs()) {
    if (std::find(kConfigFlags.begin(), kConfigFlags.end(), flag.name) == kConfigFlags.end()) continue;
    if (flag.name == "threads") flag.help = "workers per rank; 1, as the comparison has";
    spec.flags.push_back(std::move(flag));
  }
  spec.flags.push_back({"steps", "N", "measured steps; 8"});
  spec.flags.push_back({"warmup", "N", "steps before those; 3"});
  spec.flags.push_back({"json", "", "changes nothing: rows are JSON lines anyway"});
  return spec;
}

void run_bench_step(Session& session) {
  const CommandLine& line = session.line;
  const train::TrainConfig config = read_shared_flags(line);
  StepBenchOptions options;
  options.strategy = config.strategy;
  options.ranks = config.ranks;
  options.threads = *config.threads;
  options.deadline = train::deadline_of(config);
  read_counts(line, options);
  const Workload workload = make_workload(line.has("workload") ? line.values.at("workload") : "gpt-6x384");
  session.has_started = true;
  session.output.write_line(bench_row_line(run_step_bench(workload, options)));
}

}  // namespace shoal::tools
