#include "shoal/kernels/mse_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "shoal/kernels/step_block.h"
#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/grad_check.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::kernels {
namespace {

using test::OpCase;

constexpr double kSeed = 0.25;

OpCase mse_case(const std::vector<float>& y, const std::vector<float>& target, bool has_gradient) {
  const auto numel = static_cast<std::int64_t>(y.size());
  StepBlock block{};
  block.loss_sum = 1.5;
  block.count = 2;
  block.seed = kSeed;
  OpCase op{.name = "mse_loss " + std::to_string(numel), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("y", {numel}, y), test::operand("target", {numel}, target)};
  op.outputs = {{.name = "block",
                 .shape = {sizeof(StepBlock)},
                 .dtype = DType::U8,
                 .initial = test::bytes_of(block),
                 .read_as = DType::F64}};
  if (has_gradient)
    op.outputs.push_back({.name = "dy", .shape = {numel}, .tolerance = test::kOneRounding, .may_alias = 0});
  op.call = [has_gradient](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    mse_loss(stream, in[0], in[1], has_gradient ? out[1] : Tensor{}, out[0]);
  };
  op.reference = [has_gradient](const OpCase::Doubles& in, const OpCase::Doubles&) {
    std::vector<double> dy;
    for (std::size_t i = 0; i < in[0].size(); ++i) dy.push_back(kSeed * 2 * (in[0][i] - in[1][i]));
    return has_gradient ? OpCase::Doubles{{}, dy} : OpCase::Doubles{{}};
  };
  op.offset_step = numel > 1000 ? 13 : 1;
  return op;
}

TEST(MseLoss, SumsInIndexOrderAndWritesTheGradient) {
  for (const std::int64_t numel : {0, 1, 17, 1009, 40001}) {
    const auto y = test::normal_values(numel, 1);
    const auto target = test::normal_values(numel, 2);
    for (const bool has_gradient : {true, false}) {
      const StepBlock block = test::as_step_block(test::check_op(mse_case(y, target, has_gradient))[0]);
      double sum = 0;
      for (std::size_t i = 0; i < y.size(); ++i) {
        const double error = static_cast<double>(y[i]) - static_cast<double>(target[i]);
        sum += error * error;
      }
      EXPECT_EQ(block.loss_sum, 1.5 + sum);
      EXPECT_EQ(block.count, 2 + static_cast<double>(numel));
      EXPECT_EQ(block.correct, 0);
    }
  }
}

TEST(MseLoss, GradientMatchesDifferences) {
  const auto y = test::normal_values(40, 3);
  const auto target = test::normal_values(40, 4);
  const auto dy = test::as_floats(test::run_op_once(mse_case(y, target, true))[1]);
  const auto loss = [&](std::span<const double> at) {
    double sum = 0;
    for (std::size_t i = 0; i < at.size(); ++i) sum += kSeed * std::pow(at[i] - static_cast<double>(target[i]), 2);
    return sum;
  };
  EXPECT_TRUE(test::gradient_matches(loss, std::vector<double>(y.begin(), y.end()), dy, 5));
}

TEST(MseLoss, NanReachesLossAndGradient) {
  const auto results = test::run_op_once(mse_case({1, std::numeric_limits<float>::quiet_NaN()}, {0, 0}, true));
  EXPECT_TRUE(std::isnan(test::as_step_block(results[0]).loss_sum));
  EXPECT_TRUE(std::isnan(test::as_floats(results[1])[1]));
  EXPECT_EQ(test::as_floats(results[1])[0], 0.5f);
}

TEST(MseLoss, WrongArguments_AreNamed) {
  const test::HostStream stream;
  const test::GuardedTensor y({4}, DType::F32);
  const test::GuardedTensor target({2, 2}, DType::F32);
  const test::GuardedTensor block({sizeof(StepBlock)}, DType::U8);
  test::expect_error(ErrorCode::InvalidArgument, {"[mse_loss]", "target has shape (2, 2)", "(4)"},
                     [&] { mse_loss(*stream, y.tensor(), target.tensor(), {}, block.tensor()); });
  test::expect_error(ErrorCode::InvalidArgument, {"block is fp32"},
                     [&] { mse_loss(*stream, y.tensor(), y.tensor(), {}, y.tensor()); });
}

}  // namespace
}  // namespace shoal::kernels
