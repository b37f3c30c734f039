#include "shoal/nn/conv2d.h"

#include <gtest/gtest.h>

#include "shoal/nn/direct_binding.h"
#include "shoal/tests/support/layer_check.h"
#include "shoal/tests/support/logging_binding.h"
#include "shoal/tests/support/nn_world.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::test {
namespace {

using nn::Variable;

TEST(Conv2d, GradientsMatchDifferences) {
  TestRoot root;
  nn::Conv2d layer(&root, "conv", 3, 4);
  check_layer(root, {.inputs = {{2, 5, 6, 3}},
                     .forward = [&](nn::Context& ctx, std::span<const Variable> in) { return layer(ctx, in[0]); }});
}

TEST(Conv2d, StrideWithoutPadding_GradientsMatchDifferences) {
  TestRoot root;
  nn::Conv2d layer(&root, "conv", 2, 3, {.kernel = 1, .stride = 2, .padding = 0});
  check_layer(root, {.inputs = {{2, 5, 5, 2}},
                     .forward = [&](nn::Context& ctx, std::span<const Variable> in) { return layer(ctx, in[0]); }});
}

TEST(Conv2d, OfABatch_AsksForNoInputGradient) {
  TestRoot root;
  nn::Conv2d layer(&root, "conv", 1, 4);
  NnWorld world;
  nn::DirectBinding direct(world.stream(), root, 3);
  LoggingBinding binding(direct);
  nn::Context ctx = world.context(binding);
  const Variable x = nn::constant(world.upload({1, 4, 4, 1}, normal_values(16, 1)));
  const Variable y = layer(ctx, x);
  ASSERT_TRUE(y.requires_grad());
  binding.words.clear();
  world.seed_gradient(ctx, y, normal_values(64, 2));
  world.tape().backward(ctx);
  EXPECT_FALSE(nn::BackwardContext(ctx).has_gradient(x));
  EXPECT_EQ(binding.words, (std::vector<std::string>{"gradient conv.weight"}));
  EXPECT_NE(world.download(direct.gradient_so_far(layer.weight())), std::vector<float>(36, 0.0f));
}

TEST(Conv2d, InputThatNobodyElseHolds_LendsItsMemoryToItsGradient) {
  TestRoot root;
  nn::Conv2d layer(&root, "conv", 3, 4);
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding);
  Variable x = world.leaf(ctx, {1, 5, 5, 3}, {});
  const void* memory = x.value().data();
  const nn::Edge way_back(x);
  const Variable y = layer(ctx, x);
  x = Variable();
  world.seed_gradient(ctx, y, {});
  world.tape().backward(ctx);
  EXPECT_EQ(nn::BackwardContext(ctx).gradient_of(way_back).data(), memory);
}

TEST(Conv2d, WrongShapes_NameTheParameter) {
  TestRoot root;
  nn::Conv2d layer(&root, "conv", 3, 4);
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding);
  expect_error(ErrorCode::InvalidArgument, {"nn::conv2d", "conv.weight", "(1, 4, 4, 2)"}, [&] {
    layer(ctx, world.leaf(ctx, {1, 4, 4, 2}, {}));
  });
  expect_error(ErrorCode::InvalidArgument, {"nn::conv2d", "(4, 4, 3)"}, [&] {
    layer(ctx, world.leaf(ctx, {4, 4, 3}, {}));
  });
}

}  // namespace
}  // namespace shoal::test
