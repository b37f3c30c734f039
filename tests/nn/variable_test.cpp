#include "shoal/nn/variable.h"

#include <gtest/gtest.h>

#include <cmath>

#include "shoal/nn/direct_binding.h"
#include "shoal/tests/support/nn_world.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::test {
namespace {

using nn::BackwardContext;
using nn::Edge;
using nn::Scratch;
using nn::Variable;

class VariableTest : public ::testing::Test {
 protected:
  std::vector<float> gradient(const Edge& x) { return world_.download(BackwardContext(ctx_).gradient_of(x)); }
  int num_held() { return world_.allocator().num_held(); }
  std::size_t num_acquired() {
    std::size_t count = 0;
    for (const AllocationEvent& event : world_.allocator().events()) count += event.is_acquire ? 1 : 0;
    return count;
  }

  TestRoot root_;
  NnWorld world_;
  nn::DirectBinding binding_{world_.stream(), root_, 1};
  nn::Context ctx_ = world_.context(binding_);
  BackwardContext bctx_{ctx_};
};

TEST_F(VariableTest, Memory_IsPoisonedUntilItIsWritten) {
  const Variable x = nn::make_variable(ctx_, {3}, false, "x");
  for (const Tensor& tensor : {world_.make({3}, DType::F32), x.value()}) {
    for (const float value : world_.download(tensor)) EXPECT_TRUE(std::isnan(value));
  }
}

TEST_F(VariableTest, Undefined_IsRefused) {
  const Variable x;
  EXPECT_FALSE(x.is_defined());
  EXPECT_FALSE(x.requires_grad());
  expect_error(ErrorCode::InvalidArgument, {"undefined"}, [&] { (void)x.value(); });
  expect_error(ErrorCode::InvalidArgument, {"undefined"}, [&] { (void)bctx_.gradient_of(x); });
  expect_error(ErrorCode::InvalidArgument, {"undefined"}, [&] { (void)Edge(x).shape(); });
}

TEST_F(VariableTest, Memory_GoesBackWithTheLastVariable) {
  Variable x = nn::make_variable(ctx_, {4}, true, "x");
  Variable copy = x;
  EXPECT_EQ(copy.value().data(), x.value().data());
  x = Variable();
  EXPECT_EQ(num_held(), 1);
  Variable moved = std::move(copy);
  EXPECT_EQ(num_held(), 1);
  moved = Variable();
  EXPECT_EQ(num_held(), 0);
}

TEST_F(VariableTest, Edge_KeepsShapeAndGradientButNotTheValue) {
  Variable x = nn::make_variable(ctx_, {2, 3}, true, "x");
  const Edge edge(x);
  x = Variable();
  EXPECT_EQ(num_held(), 0);
  EXPECT_EQ(edge.shape(), (Shape{2, 3}));
  world_.overwrite(bctx_.target_for(edge).tensor, std::vector<float>{1, 2, 3, 4, 5, 6});
  EXPECT_EQ(num_held(), 1);
  EXPECT_EQ(gradient(edge), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  bctx_.drop_gradient(edge);
  EXPECT_EQ(num_held(), 0);
  EXPECT_FALSE(bctx_.has_gradient(edge));
}

TEST_F(VariableTest, Gradient_GoesBackWithTheLastHandle) {
  {
    Variable x = nn::make_variable(ctx_, {4}, true, "x");
    (void)bctx_.target_for(x);
    const Edge edge(x);
    x = Variable();
    EXPECT_EQ(num_held(), 1);
  }
  EXPECT_EQ(num_held(), 0);
}

TEST_F(VariableTest, Target_IsWrittenFirstThenAddedTo) {
  const Variable x = nn::make_variable(ctx_, {4}, true, "x");
  const auto first = bctx_.target_for(x);
  EXPECT_FALSE(first.accumulate);
  const auto second = bctx_.target_for(x);
  EXPECT_TRUE(second.accumulate);
  EXPECT_EQ(first.tensor.data(), second.tensor.data());
}

TEST_F(VariableTest, WithoutRequiredGradient_NoTargetAndNothingIsPassed) {
  const Variable x = nn::constant(world_.upload({2}, std::vector<float>{1, 2}));
  const Variable y = world_.leaf(ctx_, {2}, std::vector<float>{1, 2});
  EXPECT_FALSE(bctx_.target_for(x).is_wanted());
  world_.seed_gradient(ctx_, y, std::vector<float>{1, 1});
  bctx_.pass_gradient(y, x);
  EXPECT_FALSE(bctx_.gradient_of(x).is_defined());
  world_.seed_gradient(ctx_, x, std::vector<float>{1, 1});
  EXPECT_FALSE(bctx_.gradient_of(x).is_defined());
}

TEST_F(VariableTest, WithoutATape_NothingRequiresAGradient) {
  nn::Context ctx = world_.context(binding_, false);
  EXPECT_FALSE(nn::make_variable(ctx, {2}, true, "x").requires_grad());
}

TEST_F(VariableTest, PassedGradient_IsSharedUntilSomebodyWrites) {
  const Variable y = world_.leaf(ctx_, {2}, std::vector<float>{0, 0});
  const Variable a = world_.leaf(ctx_, {2}, std::vector<float>{0, 0});
  const Variable b = world_.leaf(ctx_, {2}, std::vector<float>{0, 0});
  world_.seed_gradient(ctx_, y, std::vector<float>{1, 2});
  const std::size_t before = num_acquired();
  bctx_.pass_gradient(y, a);
  bctx_.pass_gradient(y, b);
  EXPECT_EQ(num_acquired(), before);
  EXPECT_EQ(bctx_.gradient_of(a).data(), bctx_.gradient_of(b).data());
  bctx_.drop_gradient(y);

  const Tensor own = bctx_.mutable_gradient_of(b);
  EXPECT_EQ(num_acquired(), before + 1);
  world_.overwrite(own, std::vector<float>{-1, -1});
  EXPECT_EQ(gradient(a), (std::vector<float>{1, 2}));

  // a is the only holder now: its target is the very memory.
  const void* memory = bctx_.gradient_of(a).data();
  EXPECT_EQ(bctx_.target_for(a).tensor.data(), memory);
  EXPECT_EQ(num_acquired(), before + 1);
}

TEST_F(VariableTest, SharedGradient_IsCopiedBeforeItIsAddedTo) {
  const Variable y = world_.leaf(ctx_, {2}, std::vector<float>{0, 0});
  const Variable a = world_.leaf(ctx_, {2}, std::vector<float>{0, 0});
  const Variable b = world_.leaf(ctx_, {2}, std::vector<float>{0, 0});
  world_.seed_gradient(ctx_, y, std::vector<float>{1, 2});
  world_.seed_gradient(ctx_, b, std::vector<float>{10, 20});
  bctx_.pass_gradient(y, a);
  bctx_.pass_gradient(y, a);
  EXPECT_EQ(gradient(a), (std::vector<float>{2, 4}));
  EXPECT_EQ(gradient(y), (std::vector<float>{1, 2}));
  bctx_.pass_gradient(y, b);
  EXPECT_EQ(gradient(b), (std::vector<float>{11, 22}));
  EXPECT_EQ(gradient(y), (std::vector<float>{1, 2}));
}

TEST_F(VariableTest, SetGradient_AddsToOneThatIsThere) {
  const Variable x = world_.leaf(ctx_, {2}, std::vector<float>{0, 0});
  world_.seed_gradient(ctx_, x, std::vector<float>{1, 2});
  world_.seed_gradient(ctx_, x, std::vector<float>{4, 8});
  EXPECT_EQ(gradient(x), (std::vector<float>{5, 10}));
}

TEST_F(VariableTest, Reshape_SharesMemoryAndGradient) {
  Variable x = world_.leaf(ctx_, {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  Variable view = nn::reshape(ctx_, x, {3, 2});
  const Variable view_of_view = nn::reshape(ctx_, view, {6});
  EXPECT_EQ(view.value().data(), x.value().data());
  EXPECT_TRUE(view_of_view.requires_grad());
  world_.seed_gradient(ctx_, view, std::vector<float>{1, 1, 1, 1, 1, 1});
  EXPECT_TRUE(bctx_.target_for(x).accumulate);
  EXPECT_EQ(bctx_.gradient_of(view_of_view).shape(), (Shape{6}));
  EXPECT_EQ(bctx_.gradient_of(x).data(), bctx_.gradient_of(view_of_view).data());

  const Edge edge(x);
  x = Variable();
  EXPECT_EQ(num_held(), 2) << "the views hold the value";
  EXPECT_EQ(world_.download(view_of_view.value())[5], 6);
  view = Variable();
  EXPECT_EQ(gradient(edge).size(), 6u);
}

TEST_F(VariableTest, Reshape_ToAnotherCount_IsRefused) {
  const Variable x = nn::make_variable(ctx_, {2, 3}, true, "x");
  expect_error(ErrorCode::InvalidArgument, {"(2, 3)", "(5)"}, [&] { nn::reshape(ctx_, x, {5}); });
  EXPECT_EQ(num_held(), 1);
}

TEST_F(VariableTest, TakeMemory_OnlyFromTheLastHandle) {
  Variable x = nn::make_variable(ctx_, {4}, true, "x");
  Variable copy = x;
  EXPECT_FALSE(nn::take_memory(x).is_held());
  copy = Variable();
  Variable view = nn::reshape(ctx_, x, {2, 2});
  EXPECT_FALSE(nn::take_memory(x).is_held());
  EXPECT_FALSE(nn::take_memory(view).is_held());
  view = Variable();
  {
    const Scratch memory = nn::take_memory(x);
    EXPECT_TRUE(memory.is_held());
    x = Variable();
    EXPECT_EQ(num_held(), 1);
  }
  EXPECT_EQ(num_held(), 0);
  Variable batch = nn::constant(world_.make({4}, DType::F32));
  EXPECT_FALSE(nn::take_memory(batch).is_held());
}

TEST_F(VariableTest, Scratch_MovesAndGivesBackOnce) {
  Scratch a(ctx_, {4}, DType::U8, MemoryTag::Workspace, "a");
  Scratch b(std::move(a));
  EXPECT_EQ(num_held(), 1);
  Scratch c(ctx_, {4}, DType::U8, MemoryTag::Workspace, "c");
  c = std::move(b);
  EXPECT_EQ(num_held(), 1);
  c = Scratch();
  EXPECT_EQ(num_held(), 0);
  EXPECT_FALSE(nn::make_workspace(ctx_, 0, "none").is_held());
}

TEST_F(VariableTest, EmptyGradient_CanBeCopied) {
  const Variable y = world_.leaf(ctx_, {0}, {});
  const Variable a = world_.leaf(ctx_, {0}, {});
  world_.seed_gradient(ctx_, y, {});
  bctx_.pass_gradient(y, a);
  EXPECT_TRUE(bctx_.target_for(a).accumulate);
}

}  // namespace
}  // namespace shoal::test
