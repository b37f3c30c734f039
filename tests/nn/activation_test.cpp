#include "shoal/nn/activation.h"

#include <gtest/gtest.h>

#include "shoal/nn/direct_binding.h"
#include "shoal/tests/support/layer_check.h"
#include "shoal/tests/support/nn_world.h"

namespace shoal::test {
namespace {

using nn::Variable;

TEST(Relu, GradientsMatchDifferencesAwayFromTheKink) {
  TestRoot root;
  check_layer(root, {.inputs = {{3, 11}},
                     .forward = [](nn::Context& ctx, std::span<const Variable> in) { return nn::relu(ctx, in[0]); },
                     .input_values = separated_values});
}

TEST(Gelu, GradientsMatchDifferences) {
  TestRoot root;
  check_layer(root, {.inputs = {{3, 11}},
                     .forward = [](nn::Context& ctx, std::span<const Variable> in) { return nn::gelu(ctx, in[0]); }});
}

TEST(Silu, GradientsMatchDifferences) {
  TestRoot root;
  check_layer(root, {.inputs = {{3, 11}},
                     .forward = [](nn::Context& ctx, std::span<const Variable> in) { return nn::silu(ctx, in[0]); }});
}

TEST(Activation, OfAMovedTemporary_TakesNoMemory) {
  TestRoot root;
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), root, 3);
  for (const bool is_recorded : {true, false}) {
    nn::Context ctx = world.context(binding, is_recorded);
    for (const auto kind : {kernels::Activation::Relu, kernels::Activation::Gelu, kernels::Activation::Silu}) {
      Variable x = nn::make_variable(ctx, {4}, true, "x");
      const void* memory = x.value().data();
      const Variable y = nn::activate(ctx, std::move(x), kind);
      const bool needs_x = is_recorded && kind != kernels::Activation::Relu;
      EXPECT_EQ(y.value().data() == memory, !needs_x);
    }
    world.tape().clear();
  }
}

TEST(Activation, OfAValueInUse_LeavesItAlone) {
  TestRoot root;
  NnWorld world;
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding, false);
  const std::vector<float> values{-1, 2, -3};
  const Variable x = nn::make_variable(ctx, {3}, false, "x");
  world.overwrite(x.value(), values);
  const Variable y = nn::relu(ctx, x);
  EXPECT_EQ(world.download(y.value()), (std::vector<float>{0, 2, 0}));
  EXPECT_EQ(world.download(x.value()), values);
}

}  // namespace
}  // namespace shoal::test
