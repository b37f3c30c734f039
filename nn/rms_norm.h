#pragma once

#include <cstdint>
#include <string>

#include "shoal/nn/module.h"

namespace shoal::nn {

/// y = weight x / sqrt(mean(x^2) + epsilon), over the last dimension (Zhang and Sennrich 2019).
/// x (..., C), weight (C). F32. Throws InvalidArgument, by name, on shapes.
Variable rms_norm(Context& ctx, const Variable& x, const Parameter& weight, float epsilon = 1e-5f);

/// RMS norm; parameter "weight" (1).
class RmsNorm : public Module {
 public:
  RmsNorm(Module* parent, std::string name, std::int64_t features, float epsilon = 1e-5f);

  Variable forward(Context& ctx, const Variable& x) override;

  Parameter& weight() const { return weight_; }

 private:
  float epsilon_;
  Parameter& weight_;
};

}  // namespace shoal::nn
