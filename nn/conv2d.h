#pragma once

#include <cstdint>
#include <string>

#include "shoal/nn/module.h"

namespace shoal::nn {

/// A square convolution without bias: x (B, H, W, I), weight (O, I, k, k), y (B, P, Q, O), where
/// P = (H + 2 padding - k) / stride + 1. F32. Throws InvalidArgument, by name, on shapes.
Variable conv2d(Context& ctx, const Variable& x, const Parameter& weight, std::int64_t stride, std::int64_t padding);

struct Conv2dOptions {
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  std::int64_t padding = 1;
};

/// A convolution; parameter "weight" (out, in, k, k), normal with variance 2 / (out k^2) (He et al. 2015, fan out).
class Conv2d : public Module {
 public:
  Conv2d(Module* parent, std::string name, std::int64_t in, std::int64_t out, const Conv2dOptions& options = {});

  Variable forward(Context& ctx, const Variable& x) override;

  Parameter& weight() const { return weight_; }

 private:
  Conv2dOptions options_;
  Parameter& weight_;
};

}  // namespace shoal::nn
