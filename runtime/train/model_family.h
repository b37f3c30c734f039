#pragma once

#include <cstdint>
#include <string>

namespace shoal::train {

/// What suits the models of a family where the user says nothing.
struct FamilyDefaults {
  std::string data;
  std::string optimizer;
  std::string lr_schedule;
  std::int64_t batch = 0;  // of all ranks together
  std::int64_t steps = 0;  // 0: epochs say how long
  std::int64_t epochs = 0;
  double lr = 0;
  double weight_decay = 0;
  double clip_norm = 0;     // 0: no clipping
  double warmup_share = 0;  // of the run
};

/// The defaults of the family that `model` is of. Throws InvalidArgument for a name that no model has, with the
/// nearest.
FamilyDefaults family_defaults(const std::string& model);

}  // namespace shoal::train
