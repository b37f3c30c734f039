#include "shoal/runtime/tools/workloads.h"

#include <gtest/gtest.h>

#include <map>

#include "shoal/tests/runtime/train/expect_error.h"

namespace shoal::tools {
namespace {

std::int64_t num_parameters(const Workload& workload) {
  const auto model = nn::make_model(workload.model, workload.inputs);
  std::int64_t count = 0;
  for (const nn::Parameter* parameter : model->parameters()) count += parameter->shape.numel();
  return count;
}

std::int64_t gpt_parameters(std::int64_t layers, std::int64_t d, std::int64_t context, std::int64_t vocabulary) {
  return layers * (12 * d * d + 13 * d) + (context + vocabulary) * d + 2 * d;
}

TEST(Workloads, HaveThePeersParameters) {
  const std::map<std::string, std::int64_t> expected = {
      {"gpt-6x384", gpt_parameters(6, 384, 256, 512)},
      {"gpt-2x128", gpt_parameters(2, 128, 64, 512)},
      {"gpt2-124m", gpt_parameters(12, 768, 256, 50304)},
      {"resnet18", 11173962},  // the CIFAR form's well-known count
      {"chain-100x64", 100 * (64 * 64 + 64)},
  };
  ASSERT_EQ(workload_names().size(), expected.size());
  for (const auto& [name, count] : expected) EXPECT_EQ(num_parameters(make_workload(name)), count) << name;
}

TEST(Workloads, HaveThePeersBatches) {
  EXPECT_EQ(make_workload("gpt-6x384").batch, 8);
  EXPECT_EQ(make_workload("gpt2-124m").batch, 1);
  EXPECT_EQ(make_workload("resnet18").batch, 64);
  EXPECT_EQ(make_workload("chain-100x64").batch, 8);
  EXPECT_EQ(make_workload("gpt-2x128").sample.inputs, (Shape{64}));
  EXPECT_EQ(make_workload("resnet18").sample.inputs, (Shape{32, 32, 3}));
}

// Multiply-adds of a step: of the linear layers 3 per weight and row, less what the first layer saves.
std::int64_t products_of(const Workload& workload) {
  std::int64_t total = 0;
  for (const Product& product : workload.products) {
    total += product.per_step * product.rows * product.inner * product.columns;
  }
  return total;
}

TEST(Workloads, ProductsAreThoseOfTheWeights) {
  // Every matrix but the positions is multiplied by every row, three times a step; the token table once, by the head.
  const std::int64_t rows = 8 * 256;
  EXPECT_EQ(products_of(make_workload("gpt-6x384")), 3 * rows * (6 * 12 * 384 * 384 + 512 * 384));
  EXPECT_EQ(products_of(make_workload("chain-100x64")), (3 * 100 - 1) * 8 * 64 * 64);
  // ResNet-18 on 32 x 32 images: 0.5554 billion multiply-adds an image in the forward.
  const std::int64_t stem = std::int64_t{64} * 32 * 32 * 27 * 64;
  EXPECT_EQ((products_of(make_workload("resnet18")) + stem) / 3 / 64 / 100000, 5554);
}

TEST(Workloads, UnknownName_GetsTheNearest) {
  test::expect_error(ErrorCode::InvalidArgument, {"'resnet19'", "'resnet18'"}, [] { make_workload("resnet19"); });
}

}  // namespace
}  // namespace shoal::tools
