#include "shoal/nn/pooling.h"

#include <gtest/gtest.h>

#include "shoal/nn/direct_binding.h"
#include "shoal/tests/support/layer_check.h"
#include "shoal/tests/support/nn_world.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::test {
namespace {

using nn::Variable;

TEST(MaxPool, GradientsMatchDifferencesAwayFromTies) {
  TestRoot root;
  check_layer(root,
              {.inputs = {{2, 5, 4, 3}},
               .forward = [](nn::Context& ctx, std::span<const Variable> in) { return nn::max_pool(ctx, in[0], 2); },
               .input_values = separated_values});
}

TEST(GlobalAveragePool, GradientsMatchDifferences) {
  TestRoot root;
  check_layer(root, {.inputs = {{2, 3, 4, 5}}, .forward = [](nn::Context& ctx, std::span<const Variable> in) {
                       return nn::global_average_pool(ctx, in[0]);
                     }});
}

TEST(Pooling, WrongShapes_SayWhatWouldWork) {
  TestRoot root;
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding);
  const Variable x = world.leaf(ctx, {4, 4, 3}, {});
  expect_error(ErrorCode::InvalidArgument, {"nn::max_pool", "(4, 4, 3)"}, [&] { nn::max_pool(ctx, x, 2); });
  expect_error(ErrorCode::InvalidArgument, {"nn::global_average_pool", "(4, 4, 3)"},
               [&] { nn::global_average_pool(ctx, x); });
  expect_error(ErrorCode::InvalidArgument, {"nn::max_pool", "window 0"}, [&] {
    nn::max_pool(ctx, world.leaf(ctx, {1, 4, 4, 3}, {}), 0);
  });
}

}  // namespace
}  // namespace shoal::test
