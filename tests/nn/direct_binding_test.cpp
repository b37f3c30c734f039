#include "shoal/nn/direct_binding.h"

#include <gtest/gtest.h>

#include "shoal/nn/batch_norm.h"
#include "shoal/nn/initial_values.h"
#include "shoal/nn/linear.h"
#include "shoal/tests/support/nn_world.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::test {
namespace {

TEST(DirectBinding, Parameters_StartWithTheirInitialValues) {
  TestRoot root;
  const nn::Linear layer(&root, "up", 3, 5);
  NnWorld world;
  nn::DirectBinding binding(world.stream(), root, 17);
  const Tensor expected = world.make({5, 3}, DType::F32);
  nn::fill_initial(world.stream(), layer.weight(), 17, 0, expected);
  EXPECT_EQ(world.download(binding.value(layer.weight())), world.download(expected));
  EXPECT_EQ(binding.value(layer.weight()).shape(), (Shape{5, 3}));
}

TEST(DirectBinding, Gradients_AreWrittenFirstThenAddedTo) {
  TestRoot root;
  const nn::Linear layer(&root, "up", 3, 5);
  NnWorld world;
  nn::DirectBinding binding(world.stream(), root, 17);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(world.download(binding.gradient_so_far(layer.weight())), std::vector<float>(15, 0.0f));
    EXPECT_FALSE(binding.gradient(layer.weight()).accumulate);
    EXPECT_TRUE(binding.gradient(layer.weight()).accumulate);
    EXPECT_FALSE(binding.gradient(*layer.bias()).accumulate);
    world.overwrite(binding.gradient_so_far(layer.weight()), std::vector<float>(15, 1.0f));
    binding.zero_gradients();
  }
}

TEST(DirectBinding, FrozenParameter_HasNoGradient) {
  TestRoot root;
  const nn::Linear layer(&root, "up", 3, 5);
  layer.weight().is_trainable = false;
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), root, 17);
  EXPECT_FALSE(binding.gradient(layer.weight()).is_wanted());
  EXPECT_FALSE(binding.gradient_so_far(layer.weight()).is_defined());
  EXPECT_EQ(world.device().ledger().live()[MemoryTag::Gradients], 5 * 4) << "the bias's alone";
}

TEST(DirectBinding, ForeignParameter_IsNamed) {
  TestRoot root, other;
  const nn::Linear layer(&other, "up", 3, 5);
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), root, 17);
  expect_error(ErrorCode::InvalidArgument, {"up.weight"}, [&] { (void)binding.value(layer.weight()); });
  other.finalize();
  expect_error(ErrorCode::InvalidArgument, {"up.weight"}, [&] { (void)binding.gradient(layer.weight()); });
}

TEST(DirectBinding, StagedStatistics_AreNoneWhereSwitchedOff) {
  TestRoot root;
  const nn::BatchNorm layer(&root, "bn", 3);
  NnWorld world;
  nn::DirectBinding binding(world.stream(), root, 17);
  EXPECT_EQ(world.download(binding.running(layer.running_variance())), std::vector<float>(3, 1.0f));
  EXPECT_TRUE(binding.staged(layer.running_mean()).is_defined());
  binding.set_stages_statistics(false);
  EXPECT_FALSE(binding.staged(layer.running_mean()).is_defined());
}

}  // namespace
}  // namespace shoal::test
