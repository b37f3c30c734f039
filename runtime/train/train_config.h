#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "shoal/optim/lr_schedule.h"
#include "shoal/optim/registry.h"
#include "shoal/runtime/fsdp/policies.h"

namespace shoal::train {

/// Everything that a training run can be told, under the names of the program's flags. What is left open (empty, or
/// nullopt) is filled by resolve_config with what suits the model's family.
struct TrainConfig {
  std::string model = "resnet9-16";
  std::string data;            // fashion-mnist[:DIR], cifar10:DIR, text[:FILE], synthetic
  int ranks = 2;               // threads of this process
  std::optional<int> threads;  // workers per rank; open: cores / ranks, at least 1
  std::string device = "host";
  std::string backend;                 // single or threads; open: single for 1 rank, otherwise threads
  std::string strategy = "full";       // none or full
  std::string wrap = "block";          // block: units as the model marks them; type:A,B: modules of these types too
  std::string dtype = "fp32";          //
  std::optional<std::int64_t> batch;   // samples of all ranks together
  std::optional<std::int64_t> steps;   // either steps ...
  std::optional<std::int64_t> epochs;  // ... or epochs
  std::optional<double> lr;
  std::string lr_schedule;             // constant, linear, cosine, steps (times 0.1 after each third of the run)
  std::optional<std::int64_t> warmup;  // steps; open: a share of the run that suits the family
  std::string optimizer;               // adamw, adam, sgd
  std::optional<double> weight_decay;
  std::optional<double> momentum;            // of sgd; Nesterov's form where it is not 0
  std::optional<double> clip_norm;           // 0: no clipping
  std::uint64_t seed = 0;                    // of weights and of the order of samples
  int prefetch = 1;                          // leaf units gathered ahead
  double deadline_s = 30;                    // nothing waits longer without progress
  std::optional<std::int64_t> memory_limit;  // bytes per rank; open: no limit
};

/// The names that a flag may have: `here` works, `elsewhere` is Shoal's too but not in this build.
struct NameChoice {
  std::string_view flag;
  std::span<const std::string_view> here;
  std::span<const std::string_view> elsewhere;
};

/// Of device, backend, strategy, dtype and wrap, in this order.
std::span<const NameChoice> name_choices();

/// `config` with every open choice made (memory_limit and one of steps and epochs may stay open), refused where it
/// cannot work. Pure but for the number of cores; nothing is read or allocated. Throws InvalidArgument or Unsupported,
/// "[config] --flag value; why; what would work".
TrainConfig resolve_config(const TrainConfig& config);

// What follows from a resolved config.

fsdp::Policies policies_of(const TrainConfig& config);
optim::RuleOptions rule_options_of(const TrainConfig& config);
std::chrono::milliseconds deadline_of(const TrainConfig& config);

/// How long the run is and how its learning rate moves.
struct RunLength {
  std::int64_t total_steps = 0;
  std::int64_t steps_per_epoch = 0;
  optim::LrSchedule schedule;
};
/// Throws InvalidArgument where the warm-up is longer than the run.
RunLength run_length_of(const TrainConfig& config, std::int64_t steps_per_epoch);

}  // namespace shoal::train
