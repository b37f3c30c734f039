#include "shoal/nn/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "shoal/nn/direct_binding.h"
#include "shoal/tests/support/compare.h"
#include "shoal/tests/support/layer_check.h"
#include "shoal/tests/support/nn_world.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::test {
namespace {

using nn::Variable;

/// Softmax minus one-hot, in double.
std::vector<double> reference_gradient(const std::vector<float>& logits, const std::vector<std::int32_t>& targets) {
  const std::size_t classes = logits.size() / targets.size();
  std::vector<double> gradient;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) sum += std::exp(static_cast<double>(logits[row * classes + c]));
    for (std::size_t c = 0; c < classes; ++c) {
      const double probability = std::exp(static_cast<double>(logits[row * classes + c])) / sum;
      const bool is_target = static_cast<std::int32_t>(c) == targets[row];
      gradient.push_back(targets[row] < 0 ? 0 : probability - (is_target ? 1 : 0));
    }
  }
  return gradient;
}

class CrossEntropyTest : public ::testing::Test {
 protected:
  std::vector<double> gradient_of(const Variable& x) {
    nn::Context ctx = world_.context(binding_);
    std::vector<double> result;
    for (const float g : world_.download(nn::BackwardContext(ctx).gradient_of(x))) {
      result.push_back(static_cast<double>(g));
    }
    return result;
  }

  TestRoot root_;
  NnWorld world_;
  nn::DirectBinding binding_{world_.stream(), root_, 3};
  const std::vector<float> values_ = normal_values(2 * 3 * 5, 1);
  const std::vector<std::int32_t> classes_{1, 4, -1, 0, 2, 2};
  const Tensor targets_ = world_.upload({2, 3}, classes_);
};

TEST_F(CrossEntropyTest, Gradient_MatchesReferenceAndIgnoresNegativeTargets) {
  nn::Context ctx = world_.context(binding_);
  const Variable logits = world_.leaf(ctx, {2, 3, 5}, values_);
  nn::cross_entropy(ctx, logits, targets_);
  EXPECT_EQ(world_.step_block().count, 5);
  world_.tape().backward(ctx);
  EXPECT_TRUE(
      is_within(gradient_of(logits), reference_gradient(values_, classes_), DType::F32, kElementwiseCancelling));
  EXPECT_EQ(world_.download(logits.value()), values_) << "logits that are still held must not be overwritten";
}

TEST_F(CrossEntropyTest, TwoLosses_AddUp) {
  nn::Context ctx = world_.context(binding_);
  const Variable logits = world_.leaf(ctx, {2, 3, 5}, values_);
  nn::cross_entropy(ctx, logits, targets_);
  nn::cross_entropy(ctx, logits, targets_);
  EXPECT_EQ(world_.step_block().count, 10);
  world_.tape().backward(ctx);
  std::vector<double> expected = reference_gradient(values_, classes_);
  for (double& g : expected) g *= 2;
  EXPECT_TRUE(is_within(gradient_of(logits), expected, DType::F32, kElementwiseCancelling));
}

TEST_F(CrossEntropyTest, MovedLogits_AreOverwrittenByTheirGradient) {
  nn::Context ctx = world_.context(binding_);
  const Variable x = world_.leaf(ctx, {2, 3, 5}, values_);
  Variable moved = x;
  const auto before = world_.allocator().events().size();
  nn::cross_entropy(ctx, std::move(moved), targets_);
  EXPECT_EQ(world_.allocator().events().size() - before, 5u) << "two scratches and a gradient, as x is held";
  world_.tape().clear();

  Variable last = world_.leaf(ctx, {2, 3, 5}, values_);
  const nn::Edge way_back(last);
  const auto start = world_.allocator().events().size();
  nn::cross_entropy(ctx, std::move(last), targets_);
  EXPECT_EQ(world_.allocator().events().size() - start, 4u) << "two scratches, nothing else";
  world_.tape().backward(ctx);
  std::vector<double> got;
  for (const float g : world_.download(nn::BackwardContext(ctx).gradient_of(way_back))) {
    got.push_back(static_cast<double>(g));
  }
  EXPECT_TRUE(is_within(got, reference_gradient(values_, classes_), DType::F32, kElementwiseCancelling));
}

TEST_F(CrossEntropyTest, WithoutRecording_OnlyCounts) {
  nn::Context ctx = world_.context(binding_, false);
  nn::cross_entropy(ctx, nn::constant(world_.upload({2, 3, 5}, values_)), targets_);
  const auto block = world_.step_block();
  EXPECT_EQ(block.count, 5);
  EXPECT_GT(block.loss_sum, 0);
  EXPECT_EQ(world_.allocator().num_held(), 0);
}

TEST_F(CrossEntropyTest, TargetsInOneDimension_AreThoseOfTheRowsInOrder) {
  nn::Context ctx = world_.context(binding_, false);
  const Variable logits = nn::constant(world_.upload({2, 3, 5}, values_));
  nn::cross_entropy(ctx, logits, targets_);
  const double loss = world_.step_block().loss_sum;
  world_.begin_step();
  nn::cross_entropy(ctx, logits, world_.upload({6}, classes_));
  EXPECT_EQ(world_.step_block().loss_sum, loss);
}

TEST_F(CrossEntropyTest, TargetsInAnotherOrder_AreRefused) {
  nn::Context ctx = world_.context(binding_);
  const Variable logits = world_.leaf(ctx, {2, 3, 5}, values_);
  for (const Shape& shape : {Shape{3, 2}, Shape{6, 1}, Shape{2, 3, 1}, Shape{1, 6}}) {
    expect_error(ErrorCode::InvalidArgument, {"nn::cross_entropy", "(2, 3, 5)", shape.to_string()},
                 [&] { nn::cross_entropy(ctx, logits, world_.upload(shape, classes_)); });
  }
}

TEST_F(CrossEntropyTest, WrongTargets_AreRefused) {
  nn::Context ctx = world_.context(binding_);
  const Variable logits = world_.leaf(ctx, {2, 2, 5}, std::vector<float>(20));
  expect_error(ErrorCode::InvalidArgument, {"nn::cross_entropy", "(2, 2, 5)", "(2, 3)"},
               [&] { nn::cross_entropy(ctx, logits, targets_); });
  expect_error(ErrorCode::InvalidArgument, {"nn::cross_entropy", "fp32"}, [&] {
    nn::cross_entropy(ctx, logits, world_.make({2, 2}, DType::F32));
  });
}

}  // namespace
}  // namespace shoal::test
