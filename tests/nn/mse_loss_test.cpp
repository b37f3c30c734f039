#include "shoal/nn/mse_loss.h"

#include <gtest/gtest.h>

#include "shoal/nn/direct_binding.h"
#include "shoal/tests/support/nn_world.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::test {
namespace {

using nn::Variable;

TEST(MseLoss, LossAndGradient_AreExactOnSmallIntegers) {
  TestRoot root;
  NnWorld world;
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding);
  const std::vector<float> values{1, 2, -3, 4};
  const Variable y = world.leaf(ctx, {2, 2}, values);
  nn::mse_loss(ctx, y, world.upload({2, 2}, std::vector<float>{0, 4, -3, 1}));
  EXPECT_EQ(world.step_block().loss_sum, 1 + 4 + 0 + 9);
  EXPECT_EQ(world.step_block().count, 4);
  world.tape().backward(ctx);
  EXPECT_EQ(world.download(nn::BackwardContext(ctx).gradient_of(y)), (std::vector<float>{2, -4, 0, 6}));
  EXPECT_EQ(world.download(y.value()), values);
}

TEST(MseLoss, OfTheLastHandle_TakesNoMemory) {
  TestRoot root;
  NnWorld world;
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding);
  Variable y = world.leaf(ctx, {2}, std::vector<float>{1, 2});
  const nn::Edge way_back(y);
  const auto before = world.allocator().events().size();
  nn::mse_loss(ctx, std::move(y), world.upload({2}, std::vector<float>{0, 0}));
  EXPECT_EQ(world.allocator().events().size(), before);
  world.tape().backward(ctx);
  EXPECT_EQ(world.download(nn::BackwardContext(ctx).gradient_of(way_back)), (std::vector<float>{2, 4}));
}

TEST(MseLoss, WrongTargets_AreRefused) {
  TestRoot root;
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding);
  expect_error(ErrorCode::InvalidArgument, {"nn::mse_loss", "(2, 2)", "(4)"}, [&] {
    nn::mse_loss(ctx, world.leaf(ctx, {2, 2}, {}), world.make({4}, DType::F32));
  });
}

}  // namespace
}  // namespace shoal::test
