#include "shoal/tests/support/layer_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "shoal/nn/direct_binding.h"
#include "shoal/tests/support/compare.h"
#include "shoal/tests/support/nn_world.h"
#include "shoal/tests/support/tolerance.h"

namespace shoal::test {
namespace {

using Values = std::vector<float>;

/// The layer on one device with its inputs and parameters.
class Bench {
 public:
  Bench(nn::Module& root, const LayerCase& layer, DeviceKind kind)
      : layer_(layer), world_(kind), binding_(world_.stream(), root, 7), parameters_(root.parameters()) {
    for (const nn::Parameter* parameter : parameters_) {
      arguments.push_back(normal_values(parameter->shape.numel(), 100 + arguments.size(), 0.3, 0.7));
    }
    for (const Shape& shape : layer.inputs) {
      arguments.push_back(layer.input_values(shape.numel(), 200 + arguments.size()));
    }
  }

  /// Parameters, then inputs.
  std::vector<Values> arguments;

  std::size_t num_parameters() const { return parameters_.size(); }
  NnWorld& world() { return world_; }

  struct Output {
    double sum = 0;   // of weights * y
    double size = 0;  // root of the sum of their squares
  };

  /// In double, from results in fp32 without a tape.
  Output weighted_output(const Values& weights) {
    nn::Context ctx = world_.context(binding_, false);
    const Values y = world_.download(run(ctx, leaves(ctx)).value());
    Output output;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double term = static_cast<double>(y[i]) * static_cast<double>(weights[i]);
      output.sum += term;
      output.size += term * term;
    }
    output.size = std::sqrt(output.size);
    return output;
  }

  std::int64_t output_numel() {
    nn::Context ctx = world_.context(binding_, false);
    return run(ctx, leaves(ctx)).value().numel();
  }

  /// Gradients of `times` * sum(weights * y) from as many applications, by argument.
  std::vector<Values> gradients(const Values& weights, int times) {
    binding_.zero_gradients();
    nn::Context ctx = world_.context(binding_);
    const std::vector<nn::Variable> inputs = leaves(ctx);
    {
      std::vector<nn::Variable> results;
      for (int i = 0; i < times; ++i) results.push_back(run(ctx, inputs));
      for (const nn::Variable& y : results) world_.seed_gradient(ctx, y, weights);
    }
    world_.tape().backward(ctx);
    std::vector<Values> found;
    if (world_.device().kind() != DeviceKind::Host) return found;
    for (const nn::Parameter* parameter : parameters_) {
      found.push_back(world_.download(binding_.gradient_so_far(*parameter)));
    }
    nn::BackwardContext bctx(ctx);
    for (const nn::Variable& input : inputs) found.push_back(world_.download(bctx.gradient_of(input)));
    return found;
  }

 private:
  std::vector<nn::Variable> leaves(nn::Context& ctx) {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      world_.overwrite(binding_.value(*parameters_[i]), arguments[i]);
    }
    std::vector<nn::Variable> inputs;
    for (std::size_t i = 0; i < layer_.inputs.size(); ++i) {
      inputs.push_back(world_.leaf(ctx, layer_.inputs[i], arguments[parameters_.size() + i]));
    }
    return inputs;
  }
  nn::Variable run(nn::Context& ctx, const std::vector<nn::Variable>& inputs) { return layer_.forward(ctx, inputs); }

  const LayerCase& layer_;
  NnWorld world_;
  nn::DirectBinding binding_;
  std::vector<nn::Parameter*> parameters_;
};

double norm_of(const Values& values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(sum);
}

/// Along `direction`, in argument `which`.
void expect_derivative(Bench& bench, std::size_t which, const Values& weights, const Values& gradient,
                       const Values& direction) {
  const Values before = bench.arguments[which];
  double largest = 0;
  for (const float d : direction) largest = std::max(largest, std::abs(static_cast<double>(d)));
  if (largest == 0) return;
  const double h = kForwardStep / largest;
  // What was really added, in fp32, is what counts.
  Values ahead = before;
  Values behind = before;
  double expected = 0;
  double length = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto d = static_cast<double>(direction[i]);
    ahead[i] = static_cast<float>(static_cast<double>(before[i]) + h * d);
    behind[i] = static_cast<float>(static_cast<double>(before[i]) - h * d);
    const double moved = static_cast<double>(ahead[i]) - static_cast<double>(behind[i]);
    expected += moved * static_cast<double>(gradient[i]);
    length += moved * moved;
  }
  bench.arguments[which] = ahead;
  const Bench::Output above = bench.weighted_output(weights);
  bench.arguments[which] = behind;
  const Bench::Output below = bench.weighted_output(weights);
  bench.arguments[which] = before;
  const double tolerance = kForwardGradient * norm_of(gradient) * std::sqrt(length) + kForwardRounding * above.size;
  EXPECT_NEAR(above.sum - below.sum, expected, tolerance) << "argument " << which << " (parameters first)";
}

void expect_all_derivatives(Bench& bench, std::size_t which, const Values& weights, const Values& gradient) {
  ASSERT_EQ(gradient.size(), bench.arguments[which].size()) << "argument " << which;
  EXPECT_GT(norm_of(gradient), 0) << "argument " << which << ": a zero gradient checks nothing";
  for (std::uint64_t round = 0; round < 2; ++round) {
    const Values direction = normal_values(static_cast<std::int64_t>(gradient.size()), 300 + round);
    expect_derivative(bench, which, weights, gradient, direction);
  }
  expect_derivative(bench, which, weights, gradient, gradient);
}

std::vector<double> doubled(const Values& values, double factor) {
  std::vector<double> result;
  for (const float v : values) result.push_back(factor * static_cast<double>(v));
  return result;
}

}  // namespace

std::vector<float> separated_values(std::int64_t numel, std::uint64_t seed) {
  // A random order of odd multiples of 1/16 around zero.
  const std::vector<float> keys = uniform_values(numel, seed, 0, 1);
  std::vector<std::size_t> order(keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  std::vector<float> values(keys.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    values[order[rank]] = (2 * static_cast<float>(rank) + 1 - static_cast<float>(order.size() / 2 * 2)) / 16;
  }
  return values;
}

void check_layer(nn::Module& root, const LayerCase& layer) {
  Bench host(root, layer, DeviceKind::Host);
  const Values weights = normal_values(host.output_numel(), 11);
  const std::vector<Values> gradients = host.gradients(weights, 1);
  ASSERT_EQ(gradients.size(), host.arguments.size());
  for (std::size_t which = 0; which < gradients.size(); ++which) {
    if (which < host.num_parameters() && !layer.check_parameters) continue;
    expect_all_derivatives(host, which, weights, gradients[which]);
  }

  host.world().allocator().restart();
  const std::vector<Values> twice = host.gradients(weights, 2);
  for (std::size_t which = 0; which < gradients.size(); ++which) {
    EXPECT_TRUE(is_within(doubled(twice[which], 1), doubled(gradients[which], 2), DType::F32, kReduction, true))
        << "argument " << which;
  }
  EXPECT_EQ(host.world().allocator().num_held(), 0);

  Bench sim(root, layer, DeviceKind::Sim);
  (void)sim.gradients(weights, 2);
  EXPECT_EQ(sim.world().allocator().events(), host.world().allocator().events());
}

}  // namespace shoal::test
