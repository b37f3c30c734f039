#include "shoal/nn/add.h"

#include <gtest/gtest.h>

#include "shoal/nn/direct_binding.h"
#include "shoal/tests/support/layer_check.h"
#include "shoal/tests/support/nn_world.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::test {
namespace {

using nn::Variable;

TEST(Add, GradientsMatchDifferences) {
  TestRoot root;
  check_layer(root, {.inputs = {{2, 7}, {2, 7}}, .forward = [](nn::Context& ctx, std::span<const Variable> in) {
                       return nn::add(ctx, in[0], in[1]);
                     }});
}

TEST(Add, OfAVariableToItself_GradientsMatchDifferences) {
  TestRoot root;
  check_layer(root, {.inputs = {{2, 7}}, .forward = [](nn::Context& ctx, std::span<const Variable> in) {
                       return nn::add(ctx, in[0], in[0]);
                     }});
}

/// Three times a value that is at least 1/16 from zero: no sum is near the kink.
TEST(Add, FusedRelu_GradientsMatchDifferencesAwayFromTheKink) {
  TestRoot root;
  check_layer(root, {.inputs = {{3, 7}},
                     .forward =
                         [](nn::Context& ctx, std::span<const Variable> in) {
                           const Variable twice = nn::add(ctx, in[0], in[0]);
                           return nn::add(ctx, in[0], twice, true);
                         },
                     .input_values = separated_values});
}

TEST(Add, OfAMovedTemporary_TakesNoMemory) {
  TestRoot root;
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding);
  const Variable a = world.leaf(ctx, {4}, {});
  Variable b = world.leaf(ctx, {4}, {});
  const void* memory = b.value().data();
  const Variable y = nn::add(ctx, a, std::move(b));
  EXPECT_EQ(y.value().data(), memory);
  const Variable z = nn::add(ctx, a, y);
  EXPECT_NE(z.value().data(), memory);
  world.tape().clear();
}

TEST(Add, DifferentShapes_AreRefused) {
  TestRoot root;
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding);
  expect_error(ErrorCode::InvalidArgument, {"nn::add", "(4)", "(2, 2)"}, [&] {
    nn::add(ctx, world.leaf(ctx, {4}, {}), world.leaf(ctx, {2, 2}, {}));
  });
}

}  // namespace
}  // namespace shoal::test
