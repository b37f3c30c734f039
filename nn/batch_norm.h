#pragma once

#include <cstdint>
#include <string>

#include "shoal/nn/module.h"

namespace shoal::nn {

/// What a batch norm reads and moves; all (C).
struct BatchNormState {
  const Parameter& weight;
  const Parameter& bias;
  const StateBuffer& running_mean;
  const StateBuffer& running_variance;
};

/// y = weight (x - mean) / sqrt(variance + epsilon) + bias, then max(0, .) with `relu`. x (..., C). F32.
/// Where ctx.uses_batch_statistics, mean and variance are this rank's batch's, per channel, and they are left where the
/// binding says (Binding::staged); otherwise they are the running ones, which can't be recorded: Unsupported. A state
/// that is used more than once in a pass keeps the observation of its last use only.
/// Throws InvalidArgument, by name, on shapes.
Variable batch_norm(Context& ctx, const Variable& x, const BatchNormState& state, float epsilon, bool relu);

struct BatchNormOptions {
  bool relu = false;  // fused: y = max(0, ...)
  float epsilon = 1e-5f;
  float momentum = 0.1f;
};

/// Batch norm; parameters "weight" (1) and "bias" (0), buffers "running_mean" (0) and "running_var" (1), in PyTorch's
/// names.
class BatchNorm : public Module {
 public:
  BatchNorm(Module* parent, std::string name, std::int64_t channels, const BatchNormOptions& options = {});

  Variable forward(Context& ctx, const Variable& x) override;

  Parameter& weight() const { return weight_; }
  Parameter& bias() const { return bias_; }
  StateBuffer& running_mean() const { return running_mean_; }
  StateBuffer& running_variance() const { return running_variance_; }

 private:
  BatchNormOptions options_;
  Parameter& weight_;
  Parameter& bias_;
  StateBuffer& running_mean_;
  StateBuffer& running_variance_;
};

}  // namespace shoal::nn
