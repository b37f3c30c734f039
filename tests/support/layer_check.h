#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "shoal/nn/module.h"
#include "shoal/nn/variable.h"
#include "shoal/tests/support/fill_values.h"

namespace shoal::test {

/// A layer as a function of leaves that require gradients, and of the parameters of a module tree.
struct LayerCase {
  std::vector<Shape> inputs;
  std::function<nn::Variable(nn::Context& ctx, std::span<const nn::Variable> inputs)> forward;
  /// Values of the inputs: pick ones away from kinks where the layer has some.
  std::function<std::vector<float>(std::int64_t numel, std::uint64_t seed)> input_values =
      [](std::int64_t numel, std::uint64_t seed) { return normal_values(numel, seed); };
  /// False where the layer is piecewise linear with kinks that a parameter moves.
  bool check_parameters = true;
};

/// Distinct values at least 1/8 apart, none within 1/16 of zero: no step of a gradient check crosses a kink of ReLU or
/// max-pooling.
std::vector<float> separated_values(std::int64_t numel, std::uint64_t seed);

/// Gives the parameters of `root` random values and expects of the layer:
///   - gradients of inputs and parameters equal central differences, along random directions and along themselves;
///   - applied twice to the same inputs, it gives twice the gradients (everything is accumulated);
///   - on the sim device the same leases in the same order, forward and backward;
///   - nothing stays leased.
void check_layer(nn::Module& root, const LayerCase& layer);

}  // namespace shoal::test
