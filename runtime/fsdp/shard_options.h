#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "shoal/nn/model.h"
#include "shoal/runtime/fsdp/plan.h"
#include "shoal/runtime/fsdp/policies.h"

namespace shoal::fsdp {

struct ShardOptions {
  Policies policies;
  nn::BatchSpec train_batch;                    // of this rank; ranks may have different sizes
  std::optional<nn::BatchSpec> evaluate_batch;  // of one rank; none: evaluate() is not used
  std::optional<nn::BatchSpec> predict_batch;   // inputs of predict(); none: predict() is not used
  std::uint64_t seed = 0;                       // of the initial weights
  /// Replaces the model's initial values: fills `values` with elements [first, first + values.size()) of the named
  /// parameter.
  std::function<void(const nn::Parameter& parameter, std::int64_t first, std::span<float> values)> initial_values;
  std::optional<float> padding;  // what padding is filled with; any value gives the same results

  /// Edits a plan after it was proved and before it is followed; for tests of what the plan's safety rests on.
  std::function<void(Plan& plan)> edit_plan;
};

}  // namespace shoal::fsdp
