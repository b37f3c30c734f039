#pragma once

#include <cstdint>

#include "shoal/nn/linear.h"
#include "shoal/nn/model.h"
#include "shoal/nn/module_list.h"

namespace shoal::nn {

struct ChainConfig {
  std::int64_t layers = 1;
  std::int64_t width = 64;
};

/// Many small linear layers of one width, each followed by ReLU, with a squared error as the loss: what a step costs
/// besides arithmetic. Inputs and targets (B, width) F32. Every layer is a unit.
class Chain : public Model {
 public:
  explicit Chain(const ChainConfig& config);

  Variable predict(Context& ctx, const Tensor& inputs) override;
  void loss(Context& ctx, const Batch& batch) override;

 private:
  ModuleList<Linear> layers_{this, "layers"};
};

}  // namespace shoal::nn
