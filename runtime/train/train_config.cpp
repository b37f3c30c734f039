#include "shoal/runtime/train/train_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <thread>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/int_math.h"
#include "shoal/runtime/base/nearest_name.h"
#include "shoal/runtime/train/data_registry.h"
#include "shoal/runtime/train/model_family.h"

namespace shoal::train {
namespace {

constexpr int kMaxRanks = 256;
constexpr double kMaxDeadlineSeconds = 86400;
// Of samples and of steps: far beyond any run, and far below where sums and products of them overflow.
constexpr std::int64_t kMaxCount = std::int64_t{1} << 40;

[[noreturn]] void refuse(const std::string& what) { fail(ErrorCode::InvalidArgument, "[config] " + what); }

constexpr std::array<std::string_view, 1> kDevices = {"host"};
constexpr std::array<std::string_view, 1> kOtherDevices = {"cuda"};
constexpr std::array<std::string_view, 2> kBackends = {"single", "threads"};
constexpr std::array<std::string_view, 3> kOtherBackends = {"gloo", "nccl", "local_cuda"};
constexpr std::array<std::string_view, 2> kStrategies = {"none", "full"};
constexpr std::array<std::string_view, 3> kOtherStrategies = {"optimizer", "gradients", "hybrid"};
constexpr std::array<std::string_view, 1> kDtypes = {"fp32"};
constexpr std::array<std::string_view, 2> kOtherDtypes = {"bf16", "fp16"};
constexpr std::array<std::string_view, 2> kWraps = {"block", "type"};
constexpr std::array<std::string_view, 2> kOtherWraps = {"size", "rules"};
constexpr std::array<NameChoice, 5> kNameChoices = {{{"device", kDevices, kOtherDevices},
                                                     {"backend", kBackends, kOtherBackends},
                                                     {"strategy", kStrategies, kOtherStrategies},
                                                     {"dtype", kDtypes, kOtherDtypes},
                                                     {"wrap", kWraps, kOtherWraps}}};

void check_choice(std::string_view flag, const std::string& value) {
  const NameChoice& names = *std::find_if(kNameChoices.begin(), kNameChoices.end(),
                                          [&](const NameChoice& choice) { return choice.flag == flag; });
  if (std::find(names.here.begin(), names.here.end(), value) != names.here.end()) return;
  if (std::find(names.elsewhere.begin(), names.elsewhere.end(), value) != names.elsewhere.end()) {
    fail(ErrorCode::Unsupported,
         fmt::format("[config] --{} {} is not in this build; it has {}", flag, value, fmt::join(names.here, ", ")));
  }
  refuse(fmt::format("--{} {}", flag, describe_unknown(value, names.here)));
}

template <typename T>
void check_range(std::string_view flag, T value, T low, T high) {
  if (value >= low && value <= high) return;  // false for NaN
  refuse(fmt::format("--{} {} is out of range; {} to {} works", flag, value, low, high));
}

void check_count(std::string_view flag, const std::optional<std::int64_t>& value) {
  if (value.has_value() && *value < 1) refuse(fmt::format("--{} {} does nothing; at least 1 is needed", flag, *value));
  if (value.has_value()) check_range(flag, *value, std::int64_t{1}, kMaxCount);
}

void check_rate(std::string_view flag, double value) {
  if (std::isfinite(value) && value >= 0) return;
  refuse(fmt::format("--{} {} cannot work; 0 or a positive number does", flag, value));
}

void check_choices(const TrainConfig& config) {
  check_choice("device", config.device);
  check_choice("backend", config.backend);
  check_choice("strategy", config.strategy);
  check_choice("dtype", config.dtype);
  const std::string wrap = config.wrap.substr(0, config.wrap.find(':'));
  check_choice("wrap", wrap);
  if (wrap == "type" && policies_of(config).wrap_types.empty()) {
    refuse("--wrap type names no module type; --wrap type:Linear,Conv2d does");
  }
  if (wrap == "block" && config.wrap != "block")
    refuse(fmt::format("--wrap {}: block takes nothing after it", config.wrap));
  if (config.backend == "single" && config.ranks != 1) {
    refuse(fmt::format("--backend single serves 1 rank, not {}; --backend threads works", config.ranks));
  }
}

// Batches that `ranks` ranks can split, on both sides of one that they cannot.
void check_batch(std::int64_t batch, int ranks) {
  check_count("batch", batch);
  if (batch % ranks == 0) return;
  const std::int64_t above = round_up(batch, ranks);
  const std::int64_t below = above - ranks;
  refuse(fmt::format("--batch {} cannot be split evenly over {} ranks; {} can", batch, ranks,
                     below > 0 ? fmt::format("{} and {}", below, above) : fmt::format("{}", above)));
}

void check_numbers(const TrainConfig& config) {
  check_batch(*config.batch, config.ranks);
  check_count("steps", config.steps);
  check_count("epochs", config.epochs);
  check_rate("lr", *config.lr);
  check_rate("clip-norm", *config.clip_norm);
  if (config.warmup) check_range("warmup", *config.warmup, std::int64_t{0}, kMaxCount);
  if (config.prefetch < 0) refuse(fmt::format("--prefetch {} is negative; 0 or more works", config.prefetch));
  check_range("deadline", config.deadline_s, 0.001, kMaxDeadlineSeconds);
  if (config.memory_limit && *config.memory_limit < 1) {
    refuse(fmt::format("--memory-limit {} holds nothing; at least 1 is needed", *config.memory_limit));
  }
  if (*config.momentum != 0 && config.optimizer != "sgd") {
    refuse(
        fmt::format("--momentum {} means nothing to {}; --optimizer sgd takes it", *config.momentum, config.optimizer));
  }
}

int default_threads(int ranks) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return std::max(1, cores / ranks);
}

void fill_open_choices(TrainConfig& config) {
  const FamilyDefaults defaults = family_defaults(config.model);
  if (config.data.empty()) config.data = defaults.data;
  if (config.backend.empty()) config.backend = config.ranks == 1 ? "single" : "threads";
  if (config.optimizer.empty()) config.optimizer = defaults.optimizer;
  if (config.lr_schedule.empty()) config.lr_schedule = defaults.lr_schedule;
  if (!config.threads) config.threads = default_threads(config.ranks);
  if (!config.batch) config.batch = round_up(defaults.batch, config.ranks);
  if (!config.steps && !config.epochs && defaults.steps > 0) config.steps = defaults.steps;
  if (!config.steps && !config.epochs) config.epochs = defaults.epochs;
  // Another optimizer than the family's has other good values.
  const bool is_usual = config.optimizer == defaults.optimizer;
  const double other_lr = config.optimizer == "sgd" ? 0.1 : 1e-3;
  if (!config.lr) config.lr = is_usual ? defaults.lr : other_lr;
  if (!config.weight_decay) config.weight_decay = is_usual ? defaults.weight_decay : 0;
  if (!config.momentum) config.momentum = config.optimizer == "sgd" ? 0.9 : 0;
  if (!config.clip_norm) config.clip_norm = defaults.clip_norm;
}

}  // namespace

std::span<const NameChoice> name_choices() { return kNameChoices; }

TrainConfig resolve_config(const TrainConfig& config) {
  TrainConfig resolved = config;
  check_range("ranks", config.ranks, 1, kMaxRanks);
  if (config.threads) check_range("threads", *config.threads, 1, kMaxRanks);
  if (config.steps && config.epochs) refuse("--steps and --epochs both say how long to train; give one of them");
  fill_open_choices(resolved);
  check_choices(resolved);
  check_data_fits_model(resolved.data, resolved.model);
  check_numbers(resolved);
  optim::parse_lr_decay(resolved.lr_schedule);
  optim::make_rule(resolved.optimizer, rule_options_of(resolved));
  return resolved;
}

fsdp::Policies policies_of(const TrainConfig& config) {
  fsdp::Policies policies;
  policies.strategy = fsdp::parse_strategy(config.strategy);
  policies.prefetch = config.prefetch;
  const std::size_t colon = config.wrap.find(':');
  std::size_t begin = colon == std::string::npos ? config.wrap.size() : colon + 1;
  while (begin < config.wrap.size()) {
    const std::size_t end = std::min(config.wrap.find(',', begin), config.wrap.size());
    if (end > begin) policies.wrap_types.push_back(config.wrap.substr(begin, end - begin));
    begin = end + 1;
  }
  return policies;
}

optim::RuleOptions rule_options_of(const TrainConfig& config) {
  optim::RuleOptions options;
  options.weight_decay = *config.weight_decay;
  options.momentum = *config.momentum;
  options.is_nesterov = *config.momentum > 0;
  return options;
}

std::chrono::milliseconds deadline_of(const TrainConfig& config) {
  return std::chrono::milliseconds(std::max<std::int64_t>(1, std::llround(config.deadline_s * 1000)));
}

RunLength run_length_of(const TrainConfig& config, std::int64_t steps_per_epoch) {
  RunLength length;
  length.steps_per_epoch = steps_per_epoch;
  length.total_steps = config.steps ? *config.steps : checked_mul(*config.epochs, steps_per_epoch);
  optim::LrSchedule& schedule = length.schedule;
  schedule.decay = optim::parse_lr_decay(config.lr_schedule);
  // The floor comes right after the last step, so that this one still learns.
  schedule.total_steps = length.total_steps + 1;
  schedule.step_every = ceil_div(length.total_steps, 3);
  const double share = family_defaults(config.model).warmup_share;
  schedule.warmup_steps =
      config.warmup ? *config.warmup : static_cast<std::int64_t>(share * static_cast<double>(length.total_steps));
  if (schedule.warmup_steps >= length.total_steps && schedule.warmup_steps > 0) {
    refuse(fmt::format("--warmup {} leaves nothing of a run of {} steps; at most {} works", schedule.warmup_steps,
                       length.total_steps, length.total_steps - 1));
  }
  optim::check_lr_schedule(schedule);
  return length;
}

}  // namespace shoal::train
