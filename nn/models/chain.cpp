#include "shoal/nn/models/chain.h"

#include "shoal/nn/mse_loss.h"

namespace shoal::nn {

Chain::Chain(const ChainConfig& config) : Model("Chain") {
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    layers_.add(config.width, config.width, LinearOptions{.epilogue = kernels::Epilogue::Relu}).mark_unit();
  }
}

Variable Chain::predict(Context& ctx, const Tensor& inputs) {
  Variable x = constant(inputs);
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) x = layers_[layer](ctx, x);
  return x;
}

void Chain::loss(Context& ctx, const Batch& batch) { mse_loss(ctx, predict(ctx, batch.inputs), batch.targets); }

}  // namespace shoal::nn
