#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "shoal/nn/direct_binding.h"
#include "shoal/nn/models/registry.h"
#include "shoal/tests/support/nn_world.h"

namespace {

thread_local std::int64_t num_news = 0;

}  // namespace

// Counts every allocation of this executable by thread.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++num_news;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

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
  std::int64_t before = 0;
  for (int pass = 0; pass < 3; ++pass) {
    world.allocator().restart();
    before = num_news;
    model->loss(ctx, batch);
    world.tape().backward(ctx);
  }
  EXPECT_EQ(num_news - before, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, SteadyStateTest,
                         ::testing::Values("mlp", "resnet9-4", "resnet18", "gpt-2x64", "chain-3x8"));

}  // namespace
}  // namespace shoal::test
