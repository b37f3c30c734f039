#include "shoal/nn/linear.h"

#include <gtest/gtest.h>

#include <cmath>

#include "shoal/nn/activation.h"
#include "shoal/nn/direct_binding.h"
#include "shoal/tests/support/layer_check.h"
#include "shoal/tests/support/nn_world.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::test {
namespace {

using nn::Variable;

TEST(Linear, GradientsMatchDifferences) {
  TestRoot root;
  nn::Linear layer(&root, "up", 5, 7);
  check_layer(root, {.inputs = {{2, 3, 5}},
                     .forward = [&](nn::Context& ctx, std::span<const Variable> in) { return layer(ctx, in[0]); }});
}

TEST(Linear, WithoutBias_GradientsMatchDifferences) {
  TestRoot root;
  nn::Linear layer(&root, "up", 3, 9, false);
  EXPECT_EQ(layer.bias(), nullptr);
  check_layer(root, {.inputs = {{4, 3}},
                     .forward = [&](nn::Context& ctx, std::span<const Variable> in) { return layer(ctx, in[0]); }});
}

TEST(Linear, GeluEpilogue_GradientsMatchDifferences) {
  TestRoot root;
  nn::Linear layer(&root, "up", 5, 6, nn::LinearOptions{.epilogue = kernels::Epilogue::Gelu});
  check_layer(root, {.inputs = {{3, 5}},
                     .forward = [&](nn::Context& ctx, std::span<const Variable> in) { return layer(ctx, in[0]); }});
}

/// The fused ReLU against the separate one, whose gradient has a check of its own away from the kink.
TEST(Linear, ReluEpilogue_EqualsSeparateRelu) {
  TestRoot root;
  nn::Linear layer(&root, "up", 5, 16);
  NnWorld world;
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding);
  const auto seed = normal_values(4 * 16, 2);
  const auto x_values = normal_values(4 * 5, 1);
  std::vector<std::vector<float>> results;
  for (const bool is_fused : {true, false}) {
    binding.zero_gradients();
    const Variable x = world.leaf(ctx, {4, 5}, x_values);
    const Variable y = is_fused ? nn::linear(ctx, x, layer.weight(), layer.bias(), kernels::Epilogue::Relu)
                                : nn::relu(ctx, nn::linear(ctx, x, layer.weight(), layer.bias()));
    results.push_back(world.download(y.value()));
    world.seed_gradient(ctx, y, seed);
    world.tape().backward(ctx);
    results.push_back(world.download(nn::BackwardContext(ctx).gradient_of(x)));
    results.push_back(world.download(binding.gradient_so_far(layer.weight())));
    results.push_back(world.download(binding.gradient_so_far(*layer.bias())));
  }
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(results[i], results[i + 4]) << i;
}

TEST(Linear, InputThatNobodyElseHolds_LendsItsMemoryToItsGradient) {
  TestRoot root;
  nn::Linear layer(&root, "up", 5, 3);
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding);
  Variable x = world.leaf(ctx, {4, 5}, {});
  const void* memory = x.value().data();
  const nn::Edge way_back(x);
  const Variable y = layer(ctx, x);
  x = Variable();
  world.seed_gradient(ctx, y, {});
  world.tape().backward(ctx);
  EXPECT_EQ(nn::BackwardContext(ctx).gradient_of(way_back).data(), memory);
}

TEST(Linear, EmptyBatch_GivesZeroGradients) {
  TestRoot root;
  nn::Linear layer(&root, "up", 5, 3);
  NnWorld world;
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding);
  const Variable y = layer(ctx, world.leaf(ctx, {0, 5}, {}));
  EXPECT_EQ(y.shape(), (Shape{0, 3}));
  world.seed_gradient(ctx, y, {});
  world.tape().backward(ctx);
  EXPECT_EQ(world.download(binding.gradient_so_far(layer.weight())), std::vector<float>(15, 0.0f));
}

TEST(Linear, InitialValues_AreUniformByWidth) {
  TestRoot root;
  const nn::Linear layer(&root, "up", 16, 3);
  EXPECT_EQ(layer.weight().name, "up.weight");
  EXPECT_EQ(layer.weight().init.kind, nn::Init::Kind::Uniform);
  EXPECT_EQ(layer.weight().init.scale, 0.25f);
  EXPECT_TRUE(layer.weight().decays);
  EXPECT_FALSE(layer.bias()->decays);
}

TEST(Linear, WrongShapes_NameTheParameter) {
  TestRoot root;
  nn::Linear layer(&root, "up", 5, 3);
  nn::Linear other(&root, "other", 5, 4);
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding);
  expect_error(ErrorCode::InvalidArgument, {"nn::linear", "(2, 4)", "up.weight"}, [&] {
    layer(ctx, world.leaf(ctx, {2, 4}, {}));
  });
  expect_error(ErrorCode::InvalidArgument, {"nn::linear", "other.bias", "(4)"}, [&] {
    nn::linear(ctx, world.leaf(ctx, {2, 5}, {}), layer.weight(), other.bias());
  });
}

}  // namespace
}  // namespace shoal::test
