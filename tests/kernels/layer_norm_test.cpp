#include "shoal/kernels/layer_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/grad_check.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"
#include "shoal/tests/support/reference/layer_norm.h"

namespace shoal::kernels {
namespace {

namespace reference = test::reference;
using test::OpCase;
using test::OpOutput;

constexpr double kEpsilon = 1e-5;

struct Dims {
  std::int64_t R;
  std::int64_t C;
  std::string to_string() const { return std::to_string(R) + "x" + std::to_string(C); }
};
/// Around a vector (16), a block of a row (512) and a strip of columns (512), a block of rows (64), a chunk of rows
/// (256 and more), and the size from which workers share.
const std::vector<Dims> kDims = {{0, 5},   {1, 1},   {3, 2},   {2, 15},    {2, 16},   {5, 17},  {7, 513},
                                 {63, 31}, {64, 16}, {65, 33}, {131, 257}, {517, 64}, {1031, 3}};

int offset_step(const Dims& d) { return d.R * d.C > 10000 ? 21 : d.R * d.C > 1000 ? 7 : 1; }

OpCase forward_case(const Dims& d, const std::vector<float>& x, bool has_statistics) {
  OpCase op{.name = "layer_norm forward " + d.to_string(), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("x", {d.R, d.C}, x), test::operand("gamma", {d.C}, test::normal_values(d.C, 2, 1, 0.3)),
               test::operand("beta", {d.C}, test::normal_values(d.C, 3))};
  op.outputs = {{.name = "y", .shape = {d.R, d.C}, .tolerance = test::kElementwiseCancelling}};
  if (has_statistics) {
    op.outputs.push_back({.name = "mean", .shape = {d.R}, .tolerance = test::kReduction});
    op.outputs.push_back({.name = "rstd", .shape = {d.R}, .tolerance = test::kReduction});
  }
  op.call = [has_statistics](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    layer_norm_forward(stream, {.x = in[0],
                                .gamma = in[1],
                                .beta = in[2],
                                .y = out[0],
                                .mean = has_statistics ? out[1] : Tensor{},
                                .rstd = has_statistics ? out[2] : Tensor{},
                                .epsilon = static_cast<float>(kEpsilon)});
  };
  op.reference = [has_statistics](const OpCase::Doubles& in, const OpCase::Doubles&) {
    const reference::LayerNorm want =
        reference::layer_norm(in[0], in[1], in[2], static_cast<double>(static_cast<float>(kEpsilon)));
    return has_statistics ? OpCase::Doubles{want.y, want.mean, want.rstd} : OpCase::Doubles{want.y};
  };
  op.offset_step = offset_step(d);
  return op;
}

OpCase backward_case(const Dims& d, const std::vector<float>& x, const std::vector<float>& dy, bool accumulate) {
  std::vector<float> mean;
  std::vector<float> rstd;
  const std::vector<float> gamma = test::normal_values(d.C, 2, 1, 0.3);
  if (d.R > 0) {
    const auto forward = test::run_op_once(forward_case(d, x, true));
    mean = test::as_floats(forward[1]);
    rstd = test::as_floats(forward[2]);
  }
  OpCase op{.name = "layer_norm backward " + d.to_string(), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("x", {d.R, d.C}, x), test::operand("dy", {d.R, d.C}, dy),
               test::operand("mean", {d.R}, mean), test::operand("rstd", {d.R}, rstd),
               test::operand("gamma", {d.C}, gamma)};
  // Rows of one element give exact zeros for dx and dgamma.
  op.outputs = {{.name = "dx", .shape = {d.R, d.C}, .tolerance = test::kReduction, .expect_zeros = d.C == 1},
                {.name = "dgamma", .shape = {d.C}, .tolerance = test::kReduction, .expect_zeros = d.R == 0},
                {.name = "dbeta", .shape = {d.C}, .tolerance = test::kReduction, .expect_zeros = d.R == 0}};
  if (accumulate) {
    std::uint64_t seed = 40;
    for (OpOutput& output : op.outputs) {
      output = test::accumulated(output, test::normal_values(output.shape.numel(), ++seed));
    }
  }
  op.call = [accumulate](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    layer_norm_backward(stream, {.x = in[0],
                                 .dy = in[1],
                                 .mean = in[2],
                                 .rstd = in[3],
                                 .gamma = in[4],
                                 .dx = {out[0], accumulate},
                                 .dgamma = {out[1], accumulate},
                                 .dbeta = {out[2], accumulate}});
  };
  op.reference = [](const OpCase::Doubles& in, const OpCase::Doubles& initial) {
    reference::NormGradients want = reference::layer_norm_backward(in[0], in[1], in[2], in[3], in[4]);
    OpCase::Doubles sums = {want.dx, want.dgamma, want.dbeta};
    for (std::size_t k = 0; k < sums.size(); ++k) {
      for (std::size_t i = 0; i < initial[k].size(); ++i) sums[k][i] += initial[k][i];
    }
    return sums;
  };
  op.offset_step = offset_step(d);
  return op;
}

TEST(LayerNorm, ForwardEqualsReference) {
  for (const Dims& d : kDims) {
    for (const bool has_statistics : {true, false}) {
      test::check_op(forward_case(d, test::normal_values(d.R * d.C, 1, 0.5, 2), has_statistics));
    }
  }
}

TEST(LayerNorm, BackwardEqualsReference) {
  for (const Dims& d : kDims) {
    if (d.C <= 2) continue;  // nothing is left of dx but rounding: see the next test
    for (const bool accumulate : {false, true}) {
      test::check_op(
          backward_case(d, test::normal_values(d.R * d.C, 1, 0.5, 2), test::normal_values(d.R * d.C, 4), accumulate));
    }
  }
}

TEST(LayerNorm, RowsOfOneElement_HaveNoGradient) {
  const auto results = test::run_op_once(backward_case({3, 1}, {1, -2, 5}, {1, 2, 3}, false));
  EXPECT_EQ(test::as_floats(results[0]), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(test::as_floats(results[1]), (std::vector<float>{0}));
  EXPECT_EQ(test::as_floats(results[2]), (std::vector<float>{6}));
}

TEST(LayerNorm, LargeMeanKeepsDigits) {
  // x near 4096 +- 1: a one-pass variance would lose all digits. x carries 2^-12 itself, so exact multiples are used.
  std::vector<float> x = test::exact_values(4 * 300, 5, -6);
  for (float& value : x) value += 4096;
  test::check_op(forward_case({4, 300}, x, true));
}

TEST(LayerNorm, GradientsAfterALargeMean_SeeNoMoreThanItsRounding) {
  const Dims d{64, 48};
  const auto x = test::normal_values(d.R * d.C, 9, 1100, 1);
  OpCase op = backward_case(d, x, test::normal_values(d.R * d.C, 10), false);
  for (const std::size_t k : {0, 1}) op.outputs[k].tolerance = test::kRoundedMeanGradient;
  op.reference = [](const OpCase::Doubles& in, const OpCase::Doubles&) {
    const reference::LayerNorm exact = reference::layer_norm(in[0], in[4], in[4], kEpsilon);
    const reference::NormGradients want = reference::layer_norm_backward(in[0], in[1], exact.mean, exact.rstd, in[4]);
    return OpCase::Doubles{want.dx, want.dgamma, want.dbeta};
  };
  test::check_op(op);
}

TEST(LayerNorm, ConstantRowGivesBeta) {
  OpCase op = forward_case({2, 40}, std::vector<float>(80, 3.1f), true);
  const auto results = test::run_op_once(op);
  const auto beta = test::normal_values(40, 3);
  const auto y = test::as_floats(results[0]);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], beta[i % 40], test::kConstantNorm);
  EXPECT_TRUE(std::isfinite(test::as_floats(results[2])[0]));
}

TEST(LayerNorm, NanStaysInItsRow) {
  std::vector<float> x = test::normal_values(3 * 20, 6);
  x[25] = std::numeric_limits<float>::quiet_NaN();
  const auto y = test::as_floats(test::run_op_once(forward_case({3, 20}, x, true))[0]);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i / 20 == 1) << i;
}

TEST(LayerNorm, AccumulateAddsToTheSum) {
  const Dims d{70, 40};
  const auto x = test::normal_values(d.R * d.C, 1);
  const auto dy = test::normal_values(d.R * d.C, 4);
  const auto written = test::run_op_once(backward_case(d, x, dy, false));
  OpCase op = backward_case(d, x, dy, true);
  const auto added = test::run_op_once(op);
  for (std::size_t k = 0; k < 3; ++k) {
    const auto sum = test::as_floats(written[k]);
    const auto old = test::as_floats(op.outputs[k].initial);
    const auto result = test::as_floats(added[k]);
    for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(result[i], old[i] + sum[i]) << op.outputs[k].name << i;
  }
}

TEST(LayerNorm, GradientMatchesDifferences) {
  const Dims d{4, 21};
  const auto x = test::normal_values(d.R * d.C, 7, 0.3);
  const auto dy = test::normal_values(d.R * d.C, 8);
  const OpCase op = backward_case(d, x, dy, false);
  const auto results = test::run_op_once(op);
  const auto widened = [](const std::vector<float>& v) { return std::vector<double>(v.begin(), v.end()); };
  const std::vector<double> gamma = widened(test::as_floats(op.inputs[4].bytes));
  const std::vector<double> beta(gamma.size(), 0.1);
  const auto loss = [&](std::span<const double> in, int which) {
    const std::vector<double> at(in.begin(), in.end());
    const auto y = reference::layer_norm(which == 0 ? at : widened(x), which == 1 ? at : gamma, which == 2 ? at : beta,
                                         static_cast<double>(static_cast<float>(kEpsilon)))
                       .y;
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * static_cast<double>(dy[i]);
    return sum;
  };
  const std::vector<std::vector<double>> points = {widened(x), gamma, beta};
  for (int which = 0; which < 3; ++which) {
    const auto at = static_cast<std::size_t>(which);
    EXPECT_TRUE(test::gradient_matches([&](std::span<const double> in) { return loss(in, which); }, points[at],
                                       test::as_floats(results[at]), 9))
        << op.outputs[at].name;
  }
}

TEST(LayerNorm, UnwantedGradientsAreLeftOut) {
  const Dims d{9, 20};
  const OpCase all = backward_case(d, test::normal_values(180, 1), test::normal_values(180, 4), false);
  const auto want = test::run_op_once(all);
  for (std::size_t only = 0; only < 3; ++only) {
    OpCase op = all;
    op.outputs = {all.outputs[only]};
    op.reference = nullptr;
    op.call = [only](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
      LayerNormBackward t{
          .x = in[0], .dy = in[1], .mean = in[2], .rstd = in[3], .gamma = in[4], .dx = {}, .dgamma = {}, .dbeta = {}};
      (only == 0 ? t.dx : only == 1 ? t.dgamma : t.dbeta) = {out[0], false};
      layer_norm_backward(stream, t);
    };
    EXPECT_EQ(test::run_op_once(op)[0], want[only]);
  }
}

TEST(LayerNorm, WrongArguments_AreNamed) {
  const test::HostStream stream;
  const test::GuardedTensor x({3, 4}, DType::F32);
  const test::GuardedTensor y({3, 4}, DType::F32);
  const test::GuardedTensor features({4}, DType::F32);
  const test::GuardedTensor beta({4}, DType::F32);
  const test::GuardedTensor rows({3}, DType::F32);
  const LayerNormForward good{
      .x = x.tensor(), .gamma = features.tensor(), .beta = beta.tensor(), .y = y.tensor(), .mean = {}, .rstd = {}};
  LayerNormForward t = good;
  t.gamma = rows.tensor();
  test::expect_error(ErrorCode::InvalidArgument, {"[layer_norm_forward]", "gamma has shape (3)", "(4)"},
                     [&] { layer_norm_forward(*stream, t); });
  t = good;
  t.mean = rows.tensor();
  test::expect_error(ErrorCode::InvalidArgument, {"rstd is none"}, [&] { layer_norm_forward(*stream, t); });
  t = good;
  t.y = x.tensor();
  test::expect_error(ErrorCode::InvalidArgument, {"y and x overlap"}, [&] { layer_norm_forward(*stream, t); });
  t = good;
  t.x = features.tensor();
  test::expect_error(ErrorCode::InvalidArgument, {"x has shape (4)", "2 dimensions"},
                     [&] { layer_norm_forward(*stream, t); });
}

}  // namespace
}  // namespace shoal::kernels
