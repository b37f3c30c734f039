#include "shoal/nn/tape.h"

#include <gtest/gtest.h>

#include <string>

#include "shoal/nn/add.h"
#include "shoal/nn/direct_binding.h"
#include "shoal/nn/embedding.h"
#include "shoal/nn/linear.h"
#include "shoal/runtime/base/error.h"
#include "shoal/tests/support/logging_binding.h"
#include "shoal/tests/support/nn_world.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::test {
namespace {

using nn::BackwardContext;
using nn::Variable;

struct Pair : nn::Module {
  Pair(nn::Module* parent, std::string name) : Module(parent, std::move(name), "Pair") {}
  nn::Linear first{this, "first", 2, 2, false};
  nn::Linear second{this, "second", 2, 2, false};
  Variable forward(nn::Context& ctx, const Variable& x) override {
    const Variable y = first(ctx, x);
    return second(ctx, y);
  }
};

class TapeTest : public ::testing::Test {
 protected:
  /// A pretended operation on x that writes its name down when it is undone, and passes its gradient on.
  Variable step(const std::string& name, const Variable& x) {
    const Variable y = nn::make_variable(ctx_, x.shape(), true, "y");
    world_.tape().record(y, [this, name, from = nn::Edge(y), to = nn::Edge(x)](BackwardContext& bctx) {
      order_.push_back(name);
      bctx.pass_gradient(from, to);
    });
    return y;
  }
  Variable leaf() { return world_.leaf(ctx_, {2}, std::vector<float>{0, 0}); }
  void seed(const Variable& y) { world_.seed_gradient(ctx_, y, std::vector<float>{1, 1}); }

  TestRoot root_;
  NnWorld world_;
  nn::DirectBinding direct_{world_.stream(), root_, 1};
  LoggingBinding binding_{direct_};
  nn::Context ctx_ = world_.context(binding_);
  std::vector<std::string> order_;
};

TEST_F(TapeTest, Backward_RunsInStrictReverse) {
  const Variable x = leaf();
  const Variable a = step("a", x);
  const Variable b = step("b", a);
  const Variable c = step("c", b);
  seed(c);
  world_.tape().backward(ctx_);
  EXPECT_EQ(order_, (std::vector<std::string>{"c", "b", "a"}));
  EXPECT_TRUE(world_.tape().is_empty());
  EXPECT_EQ(world_.download(BackwardContext(ctx_).gradient_of(x)), (std::vector<float>{1, 1}));
}

TEST_F(TapeTest, UnusedBranch_IsPassedOver) {
  const Variable x = leaf();
  const Variable used = step("used", x);
  const Variable unused = step("unused", x);
  seed(used);
  world_.tape().backward(ctx_);
  EXPECT_EQ(order_, (std::vector<std::string>{"used"}));
}

TEST_F(TapeTest, VariableUsedTwice_GetsTheSum) {
  const Variable x = leaf();
  const Variable a = step("a", x);
  const Variable b = step("b", a);
  const Variable c = step("c", a);
  const Variable sum = nn::add(ctx_, b, c);
  seed(sum);
  world_.tape().backward(ctx_);
  EXPECT_EQ(order_, (std::vector<std::string>{"c", "b", "a"}));
  EXPECT_EQ(world_.download(BackwardContext(ctx_).gradient_of(x)), (std::vector<float>{2, 2}));
}

TEST_F(TapeTest, Gradients_GoBackAsTheBackwardProceeds) {
  {
    const Variable x = leaf();
    Variable y = step("a", x);
    for (int i = 0; i < 5; ++i) y = step("more", y);
    seed(y);
  }
  world_.tape().backward(ctx_);
  EXPECT_EQ(world_.allocator().num_held(), 0);
}

TEST_F(TapeTest, Gradients_OfResultsThatAreStillHeld_GoBackToo) {
  const Variable x = leaf();
  const Variable y = step("a", x);
  seed(y);
  world_.tape().backward(ctx_);
  EXPECT_FALSE(BackwardContext(ctx_).has_gradient(y));
  EXPECT_TRUE(BackwardContext(ctx_).has_gradient(x));
}

TEST_F(TapeTest, Losses_RunUnconditionally) {
  world_.tape().record_loss([this](BackwardContext&) { order_.push_back("loss"); });
  world_.tape().backward(ctx_);
  EXPECT_EQ(order_, (std::vector<std::string>{"loss"}));
}

TEST_F(TapeTest, Exception_LeavesTheTapeEmptyAndNothingHeld) {
  {
    const Variable x = leaf();
    const Variable y = step("a", x);
    world_.tape().record_loss([](BackwardContext&) { fail(ErrorCode::Internal, "[test] on purpose"); });
    seed(y);
  }
  expect_error(ErrorCode::Internal, {"on purpose"}, [&] { world_.tape().backward(ctx_); });
  EXPECT_TRUE(world_.tape().is_empty());
  EXPECT_TRUE(order_.empty());
  EXPECT_EQ(world_.allocator().num_held(), 0);
}

TEST_F(TapeTest, ResultsWithoutGradient_AreNotRecorded) {
  const Variable y = nn::constant(world_.make({2}, DType::F32));
  world_.tape().record(y, [](BackwardContext&) {});
  EXPECT_TRUE(world_.tape().is_empty());
}

TEST_F(TapeTest, Marks_EncloseOperationsForwardAndBackward) {
  TestRoot root;
  Pair pair(&root, "pair");
  nn::DirectBinding direct(world_.stream(), root, 1);
  LoggingBinding log(direct);
  nn::Context ctx = world_.context(log);
  pair.set_marked(true);
  pair.second.set_marked(true);
  const Variable x = world_.leaf(ctx, {1, 2}, std::vector<float>{1, 2});
  const Variable y = pair(ctx, x);
  EXPECT_EQ(log.words,
            (std::vector<std::string>{"forward enter pair", "value pair.first.weight", "forward enter pair.second",
                                      "value pair.second.weight", "forward exit pair.second", "forward exit pair"}));
  log.words.clear();
  world_.seed_gradient(ctx, y, std::vector<float>{1, 1});
  world_.tape().backward(ctx);
  EXPECT_EQ(log.words, (std::vector<std::string>{"backward enter pair", "backward enter pair.second",
                                                 "gradient pair.second.weight", "value pair.second.weight",
                                                 "backward exit pair.second", "gradient pair.first.weight",
                                                 "value pair.first.weight", "backward exit pair"}));
}

TEST_F(TapeTest, MarksOfAnUnusedBranch_StillCome) {
  TestRoot root;
  Pair pair(&root, "pair");
  nn::DirectBinding direct(world_.stream(), root, 1);
  LoggingBinding log(direct);
  nn::Context ctx = world_.context(log);
  pair.set_marked(true);
  pair(ctx, world_.leaf(ctx, {1, 2}, std::vector<float>{1, 2}));
  log.words.clear();
  world_.tape().backward(ctx);
  EXPECT_EQ(log.words, (std::vector<std::string>{"backward enter pair", "backward exit pair"}));
}

TEST_F(TapeTest, WithoutATape_MarksComeForwardOnly) {
  TestRoot root;
  Pair pair(&root, "pair");
  nn::DirectBinding direct(world_.stream(), root, 1);
  LoggingBinding log(direct);
  nn::Context ctx = world_.context(log, false);
  pair.set_marked(true);
  pair(ctx, nn::constant(world_.upload({1, 2}, std::vector<float>{1, 2})));
  EXPECT_EQ(log.words.front(), "forward enter pair");
  EXPECT_EQ(log.words.back(), "forward exit pair");
  EXPECT_TRUE(world_.tape().is_empty());
  EXPECT_EQ(world_.allocator().num_held(), 0);
}

TEST_F(TapeTest, FrozenParameter_IsNotAskedForAGradientButPassesOneOn) {
  TestRoot root;
  Pair pair(&root, "pair");
  pair.second.weight().is_trainable = false;
  nn::DirectBinding direct(world_.stream(), root, 1);
  LoggingBinding log(direct);
  nn::Context ctx = world_.context(log);
  const Variable x = nn::constant(world_.upload({1, 2}, std::vector<float>{1, 2}));
  const Variable y = pair(ctx, x);
  log.words.clear();
  world_.seed_gradient(ctx, y, std::vector<float>{1, 1});
  world_.tape().backward(ctx);
  EXPECT_EQ(log.words, (std::vector<std::string>{"value pair.second.weight", "gradient pair.first.weight"}));
  EXPECT_NE(world_.download(direct.gradient_so_far(pair.first.weight())), std::vector<float>(4, 0.0f));
}

TEST_F(TapeTest, AllFrozen_RecordsNothing) {
  TestRoot root;
  Pair pair(&root, "pair");
  pair.first.weight().is_trainable = false;
  pair.second.weight().is_trainable = false;
  nn::DirectBinding direct(world_.stream(), root, 1);
  nn::Context ctx = world_.context(direct);
  const Variable y = pair(ctx, nn::constant(world_.upload({1, 2}, std::vector<float>{1, 2})));
  EXPECT_FALSE(y.requires_grad());
  EXPECT_TRUE(world_.tape().is_empty());
}

/// Small integers, so every sum is exact: the tied gradient is the sum of those of two parameters of the same values.
TEST_F(TapeTest, TiedParameter_GetsTheSumOfItsUses) {
  TestRoot root;
  nn::Parameter& tied = root.add_parameter("tied", {3, 2}, {}, true);
  nn::Parameter& in = root.add_parameter("in", {3, 2}, {}, true);
  nn::Parameter& out = root.add_parameter("out", {3, 2}, {}, true);
  nn::DirectBinding direct(world_.stream(), root, 1);
  nn::Context ctx = world_.context(direct);
  const std::vector<float> values{1, -2, 3, 2, -1, 4};
  for (const nn::Parameter* parameter : {&tied, &in, &out}) world_.overwrite(direct.value(*parameter), values);
  const Tensor ids = world_.upload({1, 3}, std::vector<std::int32_t>{2, 0, 2});
  const std::vector<float> weights{1, 2, 0, -1, 3, 1, 2, -2, 1};
  const auto run = [&](const nn::Parameter& table, const nn::Parameter& head) {
    const Variable y = nn::linear(ctx, nn::embedding(ctx, ids, table), head);
    world_.seed_gradient(ctx, y, weights);
    world_.tape().backward(ctx);
  };
  run(tied, tied);
  run(in, out);
  const auto sum = world_.download(direct.gradient_so_far(tied));
  const auto of_in = world_.download(direct.gradient_so_far(in));
  const auto of_out = world_.download(direct.gradient_so_far(out));
  for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_EQ(sum[i], of_in[i] + of_out[i]) << i;
  EXPECT_NE(of_in, std::vector<float>(6, 0.0f));
  EXPECT_NE(of_out, std::vector<float>(6, 0.0f));
}

/// x + second(first(x)), three times. The sum's gradient is shared by both of its terms, and first's contribution is
/// added where the stream's gradient lies: a block takes the memory of the gradient between its layers, no more.
TEST_F(TapeTest, ResidualStream_CopiesNoGradient) {
  TestRoot root;
  Pair pair(&root, "pair");
  nn::DirectBinding direct(world_.stream(), root, 1);
  nn::Context ctx = world_.context(direct);
  Variable x = world_.leaf(ctx, {1, 2}, std::vector<float>{1, 2});
  for (int i = 0; i < 3; ++i) x = nn::add(ctx, x, pair(ctx, x));
  world_.seed_gradient(ctx, x, std::vector<float>{1, 1});
  x = Variable();
  world_.allocator().restart();
  world_.tape().backward(ctx);
  int num_acquired = 0;
  for (const AllocationEvent& event : world_.allocator().events()) num_acquired += event.is_acquire ? 1 : 0;
  EXPECT_EQ(num_acquired, 3);
  EXPECT_EQ(world_.allocator().num_held(), 0);
}

/// x + first(x): the layer reads the gradient that it would have to add to, so this once it is copied.
TEST_F(TapeTest, SharedGradientThatIsRead_IsNotWrittenOver) {
  TestRoot root;
  nn::Linear layer(&root, "up", 2, 2, false);
  nn::DirectBinding direct(world_.stream(), root, 1);
  nn::Context ctx = world_.context(direct);
  world_.overwrite(direct.value(layer.weight()), std::vector<float>{1, 2, 3, 4});
  const Variable x = world_.leaf(ctx, {1, 2}, std::vector<float>{1, 2});
  const Variable y = nn::add(ctx, x, layer(ctx, x));
  world_.seed_gradient(ctx, y, std::vector<float>{1, 10});
  world_.tape().backward(ctx);
  EXPECT_EQ(world_.download(BackwardContext(ctx).gradient_of(x)), (std::vector<float>{1 + 31, 10 + 42}));
}

}  // namespace
}  // namespace shoal::test
