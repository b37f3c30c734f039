#pragma once

#include <cstdint>

#include "shoal/nn/linear.h"
#include "shoal/nn/model.h"
#include "shoal/nn/module_list.h"

namespace shoal::nn {

struct MlpConfig {
  std::int64_t features = 784;
  std::int64_t hidden = 256;
  int hidden_layers = 2;
  std::int64_t classes = 10;
};

/// Linear layers with ReLU, then a linear classifier. Inputs (B, ...) with `features` elements each, so images do as
/// they are. Every layer is a unit.
class Mlp : public Model {
 public:
  explicit Mlp(const MlpConfig& config);

  Variable predict(Context& ctx, const Tensor& inputs) override;

 private:
  MlpConfig config_;
  ModuleList<Linear> layers_{this, "layers"};
  Linear head_;
};

}  // namespace shoal::nn
