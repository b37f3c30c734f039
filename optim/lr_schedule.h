#pragma once

#include <cstdint>
#include <string_view>

namespace shoal::optim {

/// How the learning rate moves after the warm-up.
enum class LrDecay {
  Constant,  // it doesn't
  Linear,    // straight down to the floor at `total_steps`
  Cosine,    // along half a cosine down to the floor at `total_steps` (Loshchilov and Hutter 2017, without restarts)
  Steps,     // times `step_factor` after every `step_every` steps, never below the floor
};

/// "constant", "linear", "cosine", "steps".
std::string_view lr_decay_name(LrDecay decay);
/// Throws InvalidArgument with the nearest match and the known names.
LrDecay parse_lr_decay(std::string_view name);

/// A learning-rate schedule as plain data: no state, so that resuming needs nothing but the step number.
struct LrSchedule {
  LrDecay decay = LrDecay::Constant;
  std::int64_t warmup_steps = 0;  // step s of them runs at base_lr * s / warmup_steps, so the last one at base_lr
  std::int64_t total_steps = 0;   // Linear and Cosine: the step that runs at the floor, as do those after it
  double floor_ratio = 0;         // floor / base_lr
  std::int64_t step_every = 0;    // Steps: counted from the end of the warm-up
  double step_factor = 0.1;       // Steps
};

/// Throws InvalidArgument, naming field and value, for negative counts, ratios outside [0, 1], Linear or Cosine whose
/// total_steps is not beyond the warm-up, or Steps without a positive step_every.
void check_lr_schedule(const LrSchedule& schedule);

/// The learning rate of step `step`, 1 for the first. Pure. Throws what check_lr_schedule throws, and InvalidArgument
/// for a step below 1.
double lr_at(const LrSchedule& schedule, double base_lr, std::int64_t step);

}  // namespace shoal::optim
