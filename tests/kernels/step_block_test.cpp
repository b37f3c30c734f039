#include "shoal/kernels/step_block.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::kernels {
namespace {

constexpr std::int64_t kBlockBytes = sizeof(StepBlock);

TEST(StepBlock, BeginStepZeroesAndSets) {
  const StepStart start{.seed = 0.25, .lr = 1e-3, .step = 7, .max_norm = std::numeric_limits<double>::infinity()};
  test::OpCase op{.name = "begin_step", .inputs = {}, .outputs = {}, .call = {}};
  op.outputs = {{.name = "block", .shape = {kBlockBytes}, .dtype = DType::U8, .read_as = DType::F64}};
  op.call = [start](Stream& stream, std::span<const Tensor>, std::span<const Tensor> out) {
    begin_step(stream, start, out[0]);
  };
  const StepBlock block = test::as_step_block(test::check_op(op)[0]);
  EXPECT_EQ(block.loss_sum, 0);
  EXPECT_EQ(block.count, 0);
  EXPECT_EQ(block.correct, 0);
  EXPECT_EQ(block.seed, 0.25);
  EXPECT_EQ(block.lr, 1e-3);
  EXPECT_EQ(block.step, 7);
  EXPECT_EQ(block.max_norm, std::numeric_limits<double>::infinity());
  EXPECT_EQ(block.grad_norm, 0);
  EXPECT_EQ(block.clip_factor, 0);
  EXPECT_EQ(block.is_skipped, 0);
}

TEST(StepBlock, ByDefault_AStepIsTheFirstAndClipsNothing) {
  const test::HostStream stream;
  const test::GuardedTensor block({kBlockBytes}, DType::U8);
  begin_step(*stream, {}, block.tensor());
  stream->synchronize();
  EXPECT_EQ(step_block(block.tensor())->step, 1);
  EXPECT_EQ(step_block(block.tensor())->max_norm, std::numeric_limits<double>::infinity());
}

TEST(StepBlock, SumsAreLossCountAndCorrect) {
  test::GuardedTensor holder({kBlockBytes}, DType::U8);
  StepBlock& block = *step_block(holder.tensor());
  block.loss_sum = 1;
  block.count = 2;
  block.correct = 3;
  const Tensor sums = step_sums(holder.tensor());
  EXPECT_EQ(sums.dtype(), DType::F64);
  EXPECT_EQ(sums.shape(), (Shape{3}));
  EXPECT_EQ(std::vector<double>(sums.as<double>(), sums.as<double>() + 3), (std::vector<double>{1, 2, 3}));
}

TEST(StepBlock, WrongArguments_AreNamed) {
  const test::HostStream stream;
  const test::GuardedTensor small({kBlockBytes - 1}, DType::U8);
  const test::GuardedTensor crooked({kBlockBytes}, DType::U8, 3);
  const test::GuardedTensor floats({kBlockBytes}, DType::F32);
  test::expect_error(ErrorCode::InvalidArgument, {"[begin_step]", "79 elements", "80"},
                     [&] { begin_step(*stream, {}, small.tensor()); });
  test::expect_error(ErrorCode::InvalidArgument, {"not a multiple of 8"},
                     [&] { begin_step(*stream, {}, crooked.tensor()); });
  const test::GuardedTensor block({kBlockBytes}, DType::U8);
  test::expect_error(ErrorCode::InvalidArgument, {"[begin_step]", "step is 0", "at least 1"},
                     [&] { begin_step(*stream, {.step = 0}, block.tensor()); });
  for (const double max_norm : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    test::expect_error(ErrorCode::InvalidArgument, {"[begin_step]", "max_norm is ", "above 0"},
                       [&] { begin_step(*stream, {.max_norm = max_norm}, block.tensor()); });
  }
  test::expect_error(ErrorCode::InvalidArgument, {"[step_sums]", "block is fp32", "u8"},
                     [&] { step_sums(floats.tensor()); });
}

}  // namespace
}  // namespace shoal::kernels
