#include "shoal/nn/batch_norm.h"

#include <gtest/gtest.h>

#include "shoal/nn/activation.h"
#include "shoal/nn/direct_binding.h"
#include "shoal/tests/support/layer_check.h"
#include "shoal/tests/support/nn_world.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::test {
namespace {

using nn::Variable;

TEST(BatchNorm, GradientsMatchDifferences) {
  TestRoot root;
  nn::BatchNorm layer(&root, "bn", 3);
  check_layer(root, {.inputs = {{2, 3, 4, 3}},
                     .forward = [&](nn::Context& ctx, std::span<const Variable> in) { return layer(ctx, in[0]); }});
}

TEST(BatchNorm, FusedRelu_EqualsSeparateRelu) {
  TestRoot root;
  nn::BatchNorm plain(&root, "plain", 5);
  nn::BatchNorm fused(&root, "fused", 5, {.relu = true});
  NnWorld world;
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding);
  const auto values = normal_values(6 * 5, 1);
  const auto seed = normal_values(6 * 5, 2);
  std::vector<std::vector<float>> results;
  for (nn::BatchNorm* layer : {&fused, &plain}) {
    const Variable x = world.leaf(ctx, {6, 5}, values);
    const Variable y = layer == &fused ? fused(ctx, x) : nn::relu(ctx, plain(ctx, x));
    results.push_back(world.download(y.value()));
    world.seed_gradient(ctx, y, seed);
    world.tape().backward(ctx);
    results.push_back(world.download(nn::BackwardContext(ctx).gradient_of(x)));
    results.push_back(world.download(binding.gradient_so_far(layer->weight())));
    results.push_back(world.download(binding.gradient_so_far(layer->bias())));
  }
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(results[i], results[i + 4]) << i;
}

/// Two values per channel, so that mean and variance are known exactly: of {1, 3}: mean 2, unbiased variance 2.
TEST(BatchNorm, RunningStatistics_MoveByMomentumAndOnlyWhereStaged) {
  TestRoot root;
  nn::BatchNorm layer(&root, "bn", 1, {.momentum = 0.5f});
  NnWorld world;
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding, false);
  const Variable x = nn::constant(world.upload({2, 1}, std::vector<float>{1, 3}));

  binding.set_stages_statistics(false);
  layer(ctx, x);
  binding.update_running_statistics();
  EXPECT_EQ(world.download(binding.running(layer.running_mean())), std::vector<float>{0});
  EXPECT_EQ(world.download(binding.running(layer.running_variance())), std::vector<float>{1});

  binding.set_stages_statistics(true);
  layer(ctx, x);
  binding.update_running_statistics();
  EXPECT_EQ(world.download(binding.running(layer.running_mean())), std::vector<float>{1});
  EXPECT_EQ(world.download(binding.running(layer.running_variance())), std::vector<float>{1.5f});

  ctx.uses_batch_statistics = false;
  layer(ctx, x);
  binding.update_running_statistics();
  EXPECT_EQ(world.download(binding.running(layer.running_mean())), std::vector<float>{1});
}

TEST(BatchNorm, Inference_UsesRunningStatistics) {
  TestRoot root;
  nn::BatchNorm layer(&root, "bn", 2, {.epsilon = 0});
  NnWorld world;
  nn::DirectBinding binding(world.stream(), root, 3);
  world.overwrite(binding.running(layer.running_mean()), std::vector<float>{1, -2});
  world.overwrite(binding.running(layer.running_variance()), std::vector<float>{4, 0.25f});
  nn::Context ctx = world.context(binding, false);
  ctx.uses_batch_statistics = false;
  const Variable y = layer(ctx, nn::constant(world.upload({2, 2}, std::vector<float>{3, -2, 1, 0})));
  EXPECT_EQ(world.download(y.value()), (std::vector<float>{1, 0, 0, 4}));
}

TEST(BatchNorm, RecordingWithRunningStatistics_IsUnsupportedByName) {
  TestRoot root;
  nn::BatchNorm layer(&root, "bn", 2);
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding);
  ctx.uses_batch_statistics = false;
  expect_error(ErrorCode::Unsupported, {"bn.weight", "running statistics"}, [&] {
    layer(ctx, world.leaf(ctx, {2, 2}, {}));
  });
}

TEST(BatchNorm, WrongShapes_NameTheParameter) {
  TestRoot root;
  nn::BatchNorm layer(&root, "bn", 2);
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding);
  expect_error(ErrorCode::InvalidArgument, {"nn::batch_norm", "bn.weight", "(2, 3)"}, [&] {
    layer(ctx, world.leaf(ctx, {2, 3}, {}));
  });
}

TEST(BatchNorm, Parameters_AreNamedAndDoNotDecay) {
  TestRoot root;
  const nn::BatchNorm layer(&root, "bn", 2);
  EXPECT_EQ(layer.weight().name, "bn.weight");
  EXPECT_EQ(layer.running_variance().name, "bn.running_var");
  EXPECT_FALSE(layer.weight().decays);
  EXPECT_EQ(layer.weight().init.scale, 1);
  EXPECT_EQ(layer.running_variance().initial, 1);
}

}  // namespace
}  // namespace shoal::test
