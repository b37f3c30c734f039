#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "shoal/kernels/linear.h"
#include "shoal/nn/module.h"

namespace shoal::nn {

/// y = epilogue(x w^T + bias).
/// x (..., K), weight (N, K), bias (N) or null, y (..., N). F32. Throws InvalidArgument, by name, on shapes.
Variable linear(Context& ctx, const Variable& x, const Parameter& weight, const Parameter* bias = nullptr,
                kernels::Epilogue epilogue = kernels::Epilogue::None);

struct LinearOptions {
  bool has_bias = true;
  kernels::Epilogue epilogue = kernels::Epilogue::None;
  /// Not given: uniform in +-1 / sqrt(in), for the weight and the bias (what PyTorch does).
  std::optional<Init> weight_init = {};
  std::optional<Init> bias_init = {};
};

/// A linear layer; parameters "weight" (out, in) and "bias" (out).
class Linear : public Module {
 public:
  Linear(Module* parent, std::string name, std::int64_t in, std::int64_t out, bool has_bias = true);
  Linear(Module* parent, std::string name, std::int64_t in, std::int64_t out, const LinearOptions& options);

  Variable forward(Context& ctx, const Variable& x) override;

  Parameter& weight() const { return weight_; }
  /// Null without a bias.
  Parameter* bias() const { return bias_; }

 private:
  kernels::Epilogue epilogue_;
  Parameter& weight_;
  Parameter* bias_;
};

}  // namespace shoal::nn
