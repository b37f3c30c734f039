#include "shoal/nn/models/mlp.h"

#include <fmt/format.h>

#include "shoal/runtime/base/error.h"

namespace shoal::nn {

Mlp::Mlp(const MlpConfig& config)
    : Model("Mlp"),
      config_(config),
      head_(this, "head", config.hidden_layers > 0 ? config.hidden : config.features, config.classes) {
  for (int layer = 0; layer < config.hidden_layers; ++layer) {
    const std::int64_t in = layer == 0 ? config.features : config.hidden;
    layers_.add(in, config.hidden, LinearOptions{.epilogue = kernels::Epilogue::Relu}).mark_unit();
  }
  head_.mark_unit();
}

Variable Mlp::predict(Context& ctx, const Tensor& inputs) {
  const std::int64_t batch = inputs.shape().num_dims() > 0 ? inputs.shape()[0] : 0;
  if (inputs.numel() != batch * config_.features) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[nn::Mlp] inputs {}; each must have {} elements", inputs.shape().to_string(), config_.features));
  }
  Variable x = constant(inputs.reshaped({batch, config_.features}));
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) x = layers_[layer](ctx, x);
  return head_(ctx, x);
}

}  // namespace shoal::nn
