#pragma once

#include <cstdint>
#include <string>

#include "shoal/nn/module.h"

namespace shoal::nn {

/// y = weight (x - mean) / sqrt(variance + epsilon) + bias, over the last dimension (Ba et al. 2016).
/// x (..., C), weight and bias (C). F32. Throws InvalidArgument, by name, on shapes.
Variable layer_norm(Context& ctx, const Variable& x, const Parameter& weight, const Parameter& bias,
                    float epsilon = 1e-5f);

/// Layer norm; parameters "weight" (1) and "bias" (0).
class LayerNorm : public Module {
 public:
  LayerNorm(Module* parent, std::string name, std::int64_t features, float epsilon = 1e-5f);

  Variable forward(Context& ctx, const Variable& x) override;

  Parameter& weight() const { return weight_; }
  Parameter& bias() const { return bias_; }

 private:
  float epsilon_;
  Parameter& weight_;
  Parameter& bias_;
};

}  // namespace shoal::nn
