#include "shoal/nn/embedding.h"

#include <gtest/gtest.h>

#include "shoal/nn/direct_binding.h"
#include "shoal/tests/support/layer_check.h"
#include "shoal/tests/support/nn_world.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::test {
namespace {

using nn::Variable;

/// Small integers, so that every sum is exact and the gradient can be written down.
TEST(Embedding, GradientsSumOverUses) {
  TestRoot root;
  nn::Embedding table(&root, "tok", 4, 2);
  nn::Embedding positions(&root, "pos", 3, 2);
  NnWorld world;
  nn::DirectBinding binding(world.stream(), root, 3);
  world.overwrite(binding.value(table.weight()), std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  world.overwrite(binding.value(positions.weight()), std::vector<float>{10, 20, 30, 40, 50, 60});
  nn::Context ctx = world.context(binding);
  const Tensor ids = world.upload({2, 2}, std::vector<std::int32_t>{3, 1, 3, 3});
  const Variable y = nn::embedding(ctx, ids, table.weight(), &positions.weight());
  EXPECT_EQ(world.download(y.value()), (std::vector<float>{16, 27, 32, 43, 16, 27, 36, 47}));
  world.seed_gradient(ctx, y, std::vector<float>{1, 2, 4, 8, 16, 32, 64, 128});
  world.tape().backward(ctx);
  EXPECT_EQ(world.download(binding.gradient_so_far(table.weight())),
            (std::vector<float>{0, 0, 4, 8, 0, 0, 1 + 16 + 64, 2 + 32 + 128}));
  EXPECT_EQ(world.download(binding.gradient_so_far(positions.weight())), (std::vector<float>{17, 34, 68, 136, 0, 0}));
}

TEST(Embedding, AsAModule_LooksUp) {
  TestRoot root;
  nn::Embedding table(&root, "tok", 3, 2);
  NnWorld world;
  nn::DirectBinding binding(world.stream(), root, 3);
  const auto rows = world.download(binding.value(table.weight()));
  nn::Context ctx = world.context(binding, false);
  const Variable y = table(ctx, world.upload({1, 2}, std::vector<std::int32_t>{2, 0}));
  EXPECT_EQ(world.download(y.value()), (std::vector<float>{rows[4], rows[5], rows[0], rows[1]}));
}

TEST(Embedding, WrongUse_NamesTheParameter) {
  TestRoot root;
  nn::Embedding table(&root, "tok", 4, 2);
  nn::Embedding positions(&root, "pos", 3, 2);
  NnWorld world(DeviceKind::Sim);
  nn::DirectBinding binding(world.stream(), root, 3);
  nn::Context ctx = world.context(binding);
  const Tensor ids = world.make({1, 4}, DType::I32);
  expect_error(ErrorCode::InvalidArgument, {"nn::embedding", "pos.weight", "4", "3"},
               [&] { nn::embedding(ctx, ids, table.weight(), &positions.weight()); });
  expect_error(ErrorCode::InvalidArgument, {"nn::embedding", "tok.weight", "fp32"}, [&] {
    nn::embedding(ctx, world.make({1, 4}, DType::F32), table.weight());
  });
  expect_error(ErrorCode::Unsupported, {"tok", "Embedding"}, [&] { table.forward(ctx, Variable()); });
}

}  // namespace
}  // namespace shoal::test
