#include "shoal/nn/attention.h"

#include <gtest/gtest.h>

#include "shoal/nn/direct_binding.h"
#include "shoal/tests/support/layer_check.h"
#include "shoal/tests/support/nn_world.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::test {
namespace {

using nn::Variable;

TEST(Attention, GradientsMatchDifferences) {
  TestRoot root;
  check_layer(root, {.inputs = {{2, 5, 3 * 2 * 4}}, .forward = [&](nn::Context& ctx, std::span<const Variable> in) {
                       return nn::causal_attention(ctx, in[0], 2);
                     }});
}

TEST(Attention, FirstPosition_SeesItsOwnValueOnly) {
  TestRoot root;
  NnWorld world;
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding, false);
  const auto values = normal_values(3 * 3 * 2, 4);
  const Variable y = nn::causal_attention(ctx, nn::constant(world.upload({1, 3, 6}, values)), 1);
  const auto out = world.download(y.value());
  EXPECT_EQ(out[0], values[4]);
  EXPECT_EQ(out[1], values[5]);
}

TEST(Attention, WrongHeads_SaysWhatWouldWork) {
  TestRoot root;
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding);
  const Variable qkv = world.leaf(ctx, {1, 3, 12}, {});
  for (const std::int64_t heads : {0, 3}) {
    expect_error(ErrorCode::InvalidArgument, {"nn::causal_attention", "(1, 3, 12)"},
                 [&] { nn::causal_attention(ctx, qkv, heads); });
  }
}

}  // namespace
}  // namespace shoal::test
