#include "shoal/nn/rms_norm.h"

#include <gtest/gtest.h>

#include "shoal/nn/direct_binding.h"
#include "shoal/tests/support/layer_check.h"
#include "shoal/tests/support/nn_world.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::test {
namespace {

using nn::Variable;

TEST(RmsNorm, GradientsMatchDifferences) {
  TestRoot root;
  nn::RmsNorm layer(&root, "norm", 7);
  check_layer(root, {.inputs = {{2, 3, 7}},
                     .forward = [&](nn::Context& ctx, std::span<const Variable> in) { return layer(ctx, in[0]); }});
}

TEST(RmsNorm, WithoutRecording_KeepsNoStatistics) {
  TestRoot root;
  nn::RmsNorm layer(&root, "norm", 4);
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding, false);
  const Variable x = nn::constant(world.make({3, 4}, DType::F32));
  const Variable y = layer(ctx, x);
  EXPECT_FALSE(y.requires_grad());
  EXPECT_EQ(world.allocator().events().size(), 1u) << "the output alone";
}

TEST(RmsNorm, WrongShapes_NameTheParameter) {
  TestRoot root;
  nn::RmsNorm layer(&root, "norm", 4);
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding);
  expect_error(ErrorCode::InvalidArgument, {"nn::rms_norm", "norm.weight", "(2, 5)"}, [&] {
    layer(ctx, world.leaf(ctx, {2, 5}, {}));
  });
}

}  // namespace
}  // namespace shoal::test
