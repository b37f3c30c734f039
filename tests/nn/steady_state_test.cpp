#include <gtest/gtest.h>

#include "shoal/nn/direct_binding.h"
#include "shoal/nn/models/registry.h"
#include "shoal/tests/support/counted_calls.h"
#include "shoal/tests/support/nn_world.h"

namespace shoal::test {
namespace {

class SteadyStateTest : public ::testing::TestWithParam<const char*> {};

/// On the sim device nothing but the bookkeeping of nn, the tape and the allocator runs.
TEST_P(SteadyStateTest, ThirdPass_CallsNoAllocator) {
  const nn::ModelInputs inputs{.height = 8, .width = 8, .vocabulary = 16, .context = 8};
  const std::unique_ptr<nn::Model> model = nn::make_model(GetParam(), inputs);
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), *model, 1);
  const nn::BatchSpec spec = nn::make_batch_spec(GetParam(), inputs, 2);
  const nn::Batch batch{world.make(spec.inputs, spec.inputs_dtype), world.make(spec.targets, spec.targets_dtype)};
  nn::Context ctx = world.context(binding);
  const auto run_pass = [&] {
    world.allocator().restart();
    model->loss(ctx, batch);
    world.tape().backward(ctx);
  };
  run_pass();
  run_pass();
  {
    const CountedCalls counting;
    run_pass();
  }
  EXPECT_EQ(CountedCalls::num_allocations(), 0);
}

INSTANTIATE_TEST_SUITE_P(Models, SteadyStateTest,
                         ::testing::Values("mlp", "resnet9-4", "resnet18", "gpt-2x64", "chain-3x8"));

}  // namespace
}  // namespace shoal::test
