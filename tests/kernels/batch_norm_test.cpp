#include "shoal/kernels/batch_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/grad_check.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"
#include "shoal/tests/support/reference/batch_norm.h"

namespace shoal::kernels {
namespace {

namespace reference = test::reference;
using test::OpCase;
using test::OpOutput;

constexpr float kEpsilon = 1e-5f;

struct Dims {
  std::int64_t R;
  std::int64_t C;
  std::string to_string() const { return std::to_string(R) + "x" + std::to_string(C); }
};
/// Around a vector (16), a block of rows (64), a chunk of rows (256), a strip of columns (512), channels scaled
/// together (2048), enough strips for each to be one worker's (4 for each of 2), many chunks, and the size from which
/// workers share.
const std::vector<Dims> kDims = {{0, 5},   {1, 1},   {3, 2},    {5, 17},   {64, 16},  {65, 15},  {130, 33},
                                 {257, 7}, {520, 5}, {66, 515}, {3, 4200}, {5000, 9}, {1100, 64}};

int offset_step(const Dims& d) { return d.R * d.C > 10000 ? 31 : d.R * d.C > 1000 ? 7 : 1; }

std::vector<float> gammas(const Dims& d) { return test::normal_values(d.C, 2, 1, 0.3); }

/// Outputs: y, mean, rstd, staged mean and variance.
OpCase forward_case(const Dims& d, const std::vector<float>& x, bool relu) {
  OpCase op{.name = "batch_norm forward " + d.to_string(), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("x", {d.R, d.C}, x), test::operand("gamma", {d.C}, gammas(d)),
               test::operand("beta", {d.C}, test::normal_values(d.C, 3))};
  const bool has_zeros = d.R == 0;
  op.outputs = {{.name = "y",
                 .shape = {d.R, d.C},
                 .tolerance = test::kElementwiseCancelling,
                 .may_alias = 0,
                 .expect_zeros = relu},
                {.name = "mean", .shape = {d.C}, .tolerance = test::kReduction, .expect_zeros = has_zeros},
                {.name = "rstd", .shape = {d.C}, .tolerance = test::kReduction, .expect_zeros = has_zeros},
                {.name = "staged_mean", .shape = {d.C}, .tolerance = test::kReduction, .expect_zeros = has_zeros},
                {.name = "staged_variance", .shape = {d.C}, .tolerance = test::kReduction, .expect_zeros = d.R < 2}};
  op.call = [relu](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    batch_norm_forward(stream, {.x = in[0],
                                .gamma = in[1],
                                .beta = in[2],
                                .y = out[0],
                                .mean = out[1],
                                .rstd = out[2],
                                .staged_mean = out[3],
                                .staged_variance = out[4],
                                .epsilon = kEpsilon,
                                .relu = relu});
  };
  op.reference = [relu](const OpCase::Doubles& in, const OpCase::Doubles&) {
    const auto want = reference::batch_norm(in[0], in[1], in[2], static_cast<double>(kEpsilon), relu);
    return OpCase::Doubles{want.y, want.mean, want.rstd, want.mean, want.unbiased};
  };
  op.offset_step = offset_step(d);
  return op;
}

OpCase backward_case(const Dims& d, const std::vector<float>& x, const std::vector<float>& dy, bool relu,
                     bool accumulate) {
  std::vector<std::vector<float>> forward;
  for (const auto& bytes : test::run_op_once(forward_case(d, x, relu))) forward.push_back(test::as_floats(bytes));
  OpCase op{.name = "batch_norm backward " + d.to_string(), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("x", {d.R, d.C}, x),        test::operand("y", {d.R, d.C}, forward[0]),
               test::operand("dy", {d.R, d.C}, dy),      test::operand("mean", {d.C}, forward[1]),
               test::operand("rstd", {d.C}, forward[2]), test::operand("gamma", {d.C}, gammas(d))};
  op.inputs[1].is_read = relu;
  op.outputs = {{.name = "dx", .shape = {d.R, d.C}, .tolerance = test::kReduction, .expect_zeros = d.R < 2},
                {.name = "dgamma", .shape = {d.C}, .tolerance = test::kReduction, .expect_zeros = d.R < 2},
                {.name = "dbeta", .shape = {d.C}, .tolerance = test::kReduction, .expect_zeros = d.R == 0}};
  if (accumulate) {
    std::uint64_t seed = 40;
    for (OpOutput& output : op.outputs) {
      output = test::accumulated(output, test::normal_values(output.shape.numel(), ++seed));
    }
  }
  op.call = [relu, accumulate](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    batch_norm_backward(stream, {.x = in[0],
                                 .y = relu ? in[1] : Tensor{},
                                 .dy = in[2],
                                 .mean = in[3],
                                 .rstd = in[4],
                                 .gamma = in[5],
                                 .dx = {out[0], accumulate},
                                 .dgamma = {out[1], accumulate},
                                 .dbeta = {out[2], accumulate},
                                 .relu = relu});
  };
  op.reference = [relu](const OpCase::Doubles& in, const OpCase::Doubles& initial) {
    const auto want =
        reference::batch_norm_backward(in[0], relu ? in[1] : std::vector<double>{}, in[2], in[3], in[4], in[5]);
    OpCase::Doubles sums = {want.dx, want.dgamma, want.dbeta};
    for (std::size_t k = 0; k < sums.size(); ++k) {
      for (std::size_t i = 0; i < initial[k].size(); ++i) sums[k][i] += initial[k][i];
    }
    return sums;
  };
  op.offset_step = offset_step(d);
  return op;
}

TEST(BatchNorm, ForwardEqualsReference) {
  for (const Dims& d : kDims) {
    for (const bool relu : {false, true})
      test::check_op(forward_case(d, test::normal_values(d.R * d.C, 1, 0.5, 2), relu));
  }
}

TEST(BatchNorm, BackwardEqualsReference) {
  for (const Dims& d : kDims) {
    if (d.R < 3 && d.R != 0) continue;  // dx and dgamma are rounding only
    for (const bool relu : {false, true}) {
      for (const bool accumulate : {false, true}) {
        const auto x = test::normal_values(d.R * d.C, 1, 0.5, 2);
        test::check_op(backward_case(d, x, test::normal_values(d.R * d.C, 4), relu, accumulate));
      }
    }
  }
}

TEST(BatchNorm, LargeMeanAndOutlierKeepDigits) {
  // A one-pass variance, or one shifted by the first row, would lose everything. The statistics are checked, and y only
  // where x - mean is not dominated by the rounding of the mean itself.
  const Dims d{700, 18};
  std::vector<float> x = test::exact_values(d.R * d.C, 5, -4);
  for (float& value : x) value += 1024;
  for (std::size_t c = 0; c < 18; c += 2) x[c] = -4096;
  OpCase op = forward_case(d, x, false);
  op.reference = [&](const OpCase::Doubles& in, const OpCase::Doubles&) {
    const auto want = reference::batch_norm(in[0], in[1], in[2], static_cast<double>(kEpsilon), false);
    return OpCase::Doubles{{}, want.mean, want.rstd, want.mean, want.unbiased};
  };
  test::check_op(op);
}

TEST(BatchNorm, ConstantChannelGivesBeta) {
  const Dims d{300, 3};
  const auto results = test::run_op_once(forward_case(d, std::vector<float>(900, 0.3f), false));
  const auto beta = test::normal_values(3, 3);
  const auto y = test::as_floats(results[0]);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], beta[i % 3], test::kConstantNorm);
  for (const float variance : test::as_floats(results[4])) EXPECT_NEAR(variance, 0, test::kConstantVariance);
}

TEST(BatchNorm, OneRow_StagesBiasedVariance) {
  const auto results = test::run_op_once(forward_case({1, 3}, {1, 2, 3}, false));
  EXPECT_EQ(test::as_floats(results[3]), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(test::as_floats(results[4]), (std::vector<float>{0, 0, 0}));
}

TEST(BatchNorm, StagedStatisticsAreOptional) {
  const Dims d{70, 20};
  OpCase op = forward_case(d, test::normal_values(d.R * d.C, 1), true);
  const auto all = test::run_op_once(op);
  op.outputs.resize(3);
  op.reference = nullptr;
  op.call = [](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    batch_norm_forward(stream, {.x = in[0],
                                .gamma = in[1],
                                .beta = in[2],
                                .y = out[0],
                                .mean = out[1],
                                .rstd = out[2],
                                .staged_mean = {},
                                .staged_variance = {},
                                .epsilon = kEpsilon,
                                .relu = true});
  };
  const auto some = test::run_op_once(op);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(some[k], all[k]);
}

TEST(BatchNorm, InferenceEqualsReference) {
  for (const Dims& d : kDims) {
    for (const bool relu : {false, true}) {
      OpCase op{.name = "batch_norm inference " + d.to_string(), .inputs = {}, .outputs = {}, .call = {}};
      op.inputs = {test::operand("x", {d.R, d.C}, test::normal_values(d.R * d.C, 1)),
                   test::operand("gamma", {d.C}, gammas(d)), test::operand("beta", {d.C}, test::normal_values(d.C, 3)),
                   test::operand("mean", {d.C}, test::normal_values(d.C, 4)),
                   test::operand("variance", {d.C}, test::uniform_values(d.C, 5, 0.1, 3))};
      op.outputs = {{.name = "y",
                     .shape = {d.R, d.C},
                     .tolerance = test::kElementwiseCancelling,
                     .may_alias = 0,
                     .expect_zeros = relu}};
      op.call = [relu](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
        batch_norm_inference(stream, {.x = in[0],
                                      .gamma = in[1],
                                      .beta = in[2],
                                      .running_mean = in[3],
                                      .running_variance = in[4],
                                      .y = out[0],
                                      .epsilon = kEpsilon,
                                      .relu = relu});
      };
      op.reference = [d, relu](const OpCase::Doubles& in, const OpCase::Doubles&) {
        std::vector<double> y;
        for (std::size_t i = 0; i < in[0].size(); ++i) {
          const std::size_t c = i % static_cast<std::size_t>(d.C);
          const double value =
              in[1][c] * (in[0][i] - in[3][c]) / std::sqrt(in[4][c] + static_cast<double>(kEpsilon)) + in[2][c];
          y.push_back(relu && value < 0 ? 0 : value);
        }
        return OpCase::Doubles{y};
      };
      op.offset_step = offset_step(d);
      test::check_op(op);
    }
  }
}

TEST(BatchNorm, NanStaysInItsChannel) {
  const Dims d{100, 20};
  std::vector<float> x = test::normal_values(d.R * d.C, 6);
  x[37 * 20 + 5] = std::numeric_limits<float>::quiet_NaN();
  for (const bool relu : {false, true}) {
    const auto y = test::as_floats(test::run_op_once(forward_case(d, x, relu))[0]);
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i % 20 == 5) << i;
  }
}

TEST(BatchNorm, GradientMatchesDifferences) {
  const Dims d{12, 5};
  const auto x = test::normal_values(d.R * d.C, 7, 0.3);
  const auto dy = test::normal_values(d.R * d.C, 8);
  const auto widened = [](const std::vector<float>& v) { return std::vector<double>(v.begin(), v.end()); };
  for (const bool relu : {false, true}) {
    const auto results = test::run_op_once(backward_case(d, x, dy, relu, false));
    const std::vector<std::vector<double>> points = {widened(x), widened(gammas(d)),
                                                     widened(test::normal_values(d.C, 3))};
    for (std::size_t which = 0; which < 3; ++which) {
      const auto loss = [&](std::span<const double> in) {
        std::vector<std::vector<double>> at = points;
        at[which].assign(in.begin(), in.end());
        const auto y = reference::batch_norm(at[0], at[1], at[2], static_cast<double>(kEpsilon), relu).y;
        double sum = 0;
        for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * static_cast<double>(dy[i]);
        return sum;
      };
      EXPECT_TRUE(test::gradient_matches(loss, points[which], test::as_floats(results[which]), 9)) << which << relu;
    }
  }
}

TEST(BatchNorm, WrongArguments_AreNamed) {
  const test::HostStream stream;
  const test::GuardedTensor x({3, 4}, DType::F32);
  const test::GuardedTensor y({3, 4}, DType::F32);
  const test::GuardedTensor a({4}, DType::F32);
  const test::GuardedTensor b({4}, DType::F32);
  const test::GuardedTensor short_one({3}, DType::F32);
  BatchNormForward t{.x = x.tensor(),
                     .gamma = a.tensor(),
                     .beta = a.tensor(),
                     .y = y.tensor(),
                     .mean = b.tensor(),
                     .rstd = short_one.tensor(),
                     .staged_mean = {},
                     .staged_variance = {}};
  test::expect_error(ErrorCode::InvalidArgument, {"[batch_norm_forward]", "rstd has shape (3)", "(4)"},
                     [&] { batch_norm_forward(*stream, t); });
  t.rstd = b.tensor();
  test::expect_error(ErrorCode::InvalidArgument, {"mean and rstd overlap"}, [&] { batch_norm_forward(*stream, t); });
  BatchNormBackward back{.x = x.tensor(),
                         .y = {},
                         .dy = y.tensor(),
                         .mean = a.tensor(),
                         .rstd = b.tensor(),
                         .gamma = a.tensor(),
                         .dx = {},
                         .dgamma = {},
                         .dbeta = {},
                         .relu = true};
  test::expect_error(ErrorCode::InvalidArgument, {"[batch_norm_backward]", "y is none"},
                     [&] { batch_norm_backward(*stream, back); });
  back.relu = false;
  back.dx = {x.tensor(), false};
  test::expect_error(ErrorCode::InvalidArgument, {"dx and x overlap"}, [&] { batch_norm_backward(*stream, back); });
}

}  // namespace
}  // namespace shoal::kernels
