#include "shoal/optim/lr_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/nearest_name.h"

namespace shoal::optim {
namespace {

constexpr std::array<std::string_view, 4> kDecayNames = {"constant", "linear", "cosine", "steps"};

[[noreturn]] void reject(std::string_view field, double value, std::string_view want) {
  fail(ErrorCode::InvalidArgument, fmt::format("[lr_schedule] {} is {}; it has to be {}", field, value, want));
}

void check_count(std::string_view field, std::int64_t value) {
  if (value < 0) reject(field, static_cast<double>(value), "at least 0");
}

void check_ratio(std::string_view field, double value) {
  if (!(value >= 0 && value <= 1)) reject(field, value, "between 0 and 1");
}

// The share of the base rate at `done` of `span` decaying steps, 1 at 0.
double decayed_share(const LrSchedule& schedule, std::int64_t done, std::int64_t span) {
  const double progress = span > 0 ? std::min(1.0, static_cast<double>(done) / static_cast<double>(span)) : 0.0;
  const double floor = schedule.floor_ratio;
  const std::int64_t num_falls = schedule.step_every > 0 ? (done - 1) / schedule.step_every : 0;
  switch (schedule.decay) {
    case LrDecay::Constant:
      return 1;
    case LrDecay::Linear:
      return floor + (1 - floor) * (1 - progress);
    case LrDecay::Cosine:
      // cos(pi) is exactly -1, so that the last step is exactly at the floor.
      return floor + (1 - floor) * 0.5 * (1 + std::cos(std::numbers::pi * progress));
    case LrDecay::Steps:
      return std::max(floor, std::pow(schedule.step_factor, static_cast<double>(num_falls)));
  }
  fail(ErrorCode::Internal, "[lr_schedule] unknown decay");
}

}  // namespace

std::string_view lr_decay_name(LrDecay decay) { return kDecayNames[static_cast<std::size_t>(decay)]; }

LrDecay parse_lr_decay(std::string_view name) {
  const auto found = std::find(kDecayNames.begin(), kDecayNames.end(), name);
  if (found == kDecayNames.end()) {
    fail(ErrorCode::InvalidArgument, fmt::format("[lr_schedule] {}", describe_unknown(name, kDecayNames)));
  }
  return static_cast<LrDecay>(found - kDecayNames.begin());
}

void check_lr_schedule(const LrSchedule& schedule) {
  check_count("warmup_steps", schedule.warmup_steps);
  check_count("total_steps", schedule.total_steps);
  check_count("step_every", schedule.step_every);
  check_ratio("floor_ratio", schedule.floor_ratio);
  check_ratio("step_factor", schedule.step_factor);
  const bool needs_end = schedule.decay == LrDecay::Linear || schedule.decay == LrDecay::Cosine;
  if (needs_end && schedule.total_steps <= schedule.warmup_steps) {
    reject("total_steps", static_cast<double>(schedule.total_steps),
           fmt::format("more than the {} steps of the warm-up", schedule.warmup_steps));
  }
  if (schedule.decay == LrDecay::Steps && schedule.step_every == 0) reject("step_every", 0, "at least 1");
}

double lr_at(const LrSchedule& schedule, double base_lr, std::int64_t step) {
  check_lr_schedule(schedule);
  if (step < 1) reject("step", static_cast<double>(step), "at least 1: steps are counted from 1");
  if (step <= schedule.warmup_steps) {
    return base_lr * (static_cast<double>(step) / static_cast<double>(schedule.warmup_steps));
  }
  return base_lr * decayed_share(schedule, step - schedule.warmup_steps, schedule.total_steps - schedule.warmup_steps);
}

}  // namespace shoal::optim
