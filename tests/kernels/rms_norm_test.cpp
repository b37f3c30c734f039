#include "shoal/kernels/rms_norm.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/grad_check.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"
#include "shoal/tests/support/reference/layer_norm.h"
#include "shoal/tests/support/reference/rms_norm.h"

namespace shoal::kernels {
namespace {

namespace reference = test::reference;
using test::OpCase;
using test::OpOutput;

constexpr float kEpsilon = 1e-6f;

struct Dims {
  std::int64_t R;
  std::int64_t C;
  std::string to_string() const { return std::to_string(R) + "x" + std::to_string(C); }
};
const std::vector<Dims> kDims = {{0, 5}, {1, 1}, {3, 2}, {5, 17}, {7, 513}, {65, 33}, {131, 257}, {517, 64}};

int offset_step(const Dims& d) { return d.R * d.C > 10000 ? 21 : d.R * d.C > 1000 ? 7 : 1; }

OpCase forward_case(const Dims& d, const std::vector<float>& x, bool has_rrms) {
  OpCase op{.name = "rms_norm forward " + d.to_string(), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("x", {d.R, d.C}, x), test::operand("gamma", {d.C}, test::normal_values(d.C, 2, 1, 0.3))};
  op.outputs = {{.name = "y", .shape = {d.R, d.C}, .tolerance = test::kElementwise}};
  if (has_rrms) op.outputs.push_back({.name = "rrms", .shape = {d.R}, .tolerance = test::kReduction});
  op.call = [has_rrms](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    rms_norm_forward(stream, in[0], in[1], out[0], has_rrms ? out[1] : Tensor{}, kEpsilon);
  };
  op.reference = [has_rrms](const OpCase::Doubles& in, const OpCase::Doubles&) {
    const reference::RmsNorm want = reference::rms_norm(in[0], in[1], static_cast<double>(kEpsilon));
    return has_rrms ? OpCase::Doubles{want.y, want.rrms} : OpCase::Doubles{want.y};
  };
  op.offset_step = offset_step(d);
  return op;
}

OpCase backward_case(const Dims& d, const std::vector<float>& x, const std::vector<float>& dy, bool accumulate) {
  std::vector<float> rrms;
  if (d.R > 0) rrms = test::as_floats(test::run_op_once(forward_case(d, x, true))[1]);
  OpCase op{.name = "rms_norm backward " + d.to_string(), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("x", {d.R, d.C}, x), test::operand("dy", {d.R, d.C}, dy),
               test::operand("rrms", {d.R}, rrms), test::operand("gamma", {d.C}, test::normal_values(d.C, 2, 1, 0.3))};
  op.outputs = {{.name = "dx", .shape = {d.R, d.C}, .tolerance = test::kReduction},
                {.name = "dgamma", .shape = {d.C}, .tolerance = test::kReduction, .expect_zeros = d.R == 0}};
  if (accumulate) {
    for (OpOutput& output : op.outputs) {
      output = test::accumulated(output, test::normal_values(output.shape.numel(), 41));
    }
  }
  op.call = [accumulate](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    rms_norm_backward(stream, {.x = in[0],
                               .dy = in[1],
                               .rrms = in[2],
                               .gamma = in[3],
                               .dx = {out[0], accumulate},
                               .dgamma = {out[1], accumulate}});
  };
  op.reference = [](const OpCase::Doubles& in, const OpCase::Doubles& initial) {
    const reference::NormGradients want = reference::layer_norm_backward(in[0], in[1], {}, in[2], in[3]);
    OpCase::Doubles sums = {want.dx, want.dgamma};
    for (std::size_t k = 0; k < sums.size(); ++k) {
      for (std::size_t i = 0; i < initial[k].size(); ++i) sums[k][i] += initial[k][i];
    }
    return sums;
  };
  op.offset_step = offset_step(d);
  return op;
}

TEST(RmsNorm, ForwardEqualsReference) {
  for (const Dims& d : kDims) {
    for (const bool has_rrms : {true, false}) {
      test::check_op(forward_case(d, test::normal_values(d.R * d.C, 1, 0.5, 2), has_rrms));
    }
  }
}

TEST(RmsNorm, BackwardEqualsReference) {
  for (const Dims& d : kDims) {
    if (d.C == 1) continue;  // dx is rounding only
    for (const bool accumulate : {false, true}) {
      test::check_op(
          backward_case(d, test::normal_values(d.R * d.C, 1, 0.5, 2), test::normal_values(d.R * d.C, 4), accumulate));
    }
  }
}

TEST(RmsNorm, GradientMatchesDifferences) {
  const Dims d{4, 21};
  const auto x = test::normal_values(d.R * d.C, 7, 0.3);
  const auto dy = test::normal_values(d.R * d.C, 8);
  const OpCase op = backward_case(d, x, dy, false);
  const auto results = test::run_op_once(op);
  const auto widened = [](const std::vector<float>& v) { return std::vector<double>(v.begin(), v.end()); };
  const std::vector<double> gamma = widened(test::as_floats(op.inputs[3].bytes));
  const auto loss = [&](std::span<const double> in, bool by_x) {
    const std::vector<double> at(in.begin(), in.end());
    const auto y = reference::rms_norm(by_x ? at : widened(x), by_x ? gamma : at, static_cast<double>(kEpsilon)).y;
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * static_cast<double>(dy[i]);
    return sum;
  };
  EXPECT_TRUE(test::gradient_matches([&](std::span<const double> in) { return loss(in, true); }, widened(x),
                                     test::as_floats(results[0]), 9));
  EXPECT_TRUE(test::gradient_matches([&](std::span<const double> in) { return loss(in, false); }, gamma,
                                     test::as_floats(results[1]), 9));
}

TEST(RmsNorm, WrongArguments_AreNamed) {
  const test::HostStream stream;
  const test::GuardedTensor x({3, 4}, DType::F32);
  const test::GuardedTensor y({4, 3}, DType::F32);
  const test::GuardedTensor gamma({4}, DType::F32);
  test::expect_error(ErrorCode::InvalidArgument, {"[rms_norm_forward]", "y has shape (4, 3)", "(3, 4)"},
                     [&] { rms_norm_forward(*stream, x.tensor(), gamma.tensor(), y.tensor(), {}, kEpsilon); });
  test::expect_error(ErrorCode::InvalidArgument, {"y and x overlap"},
                     [&] { rms_norm_forward(*stream, x.tensor(), gamma.tensor(), x.tensor(), {}, kEpsilon); });
  const test::GuardedTensor empty({3, 0}, DType::F32);
  test::expect_error(ErrorCode::InvalidArgument, {"number of features is 0", "at least 1"},
                     [&] { rms_norm_forward(*stream, empty.tensor(), gamma.tensor(), y.tensor(), {}, kEpsilon); });
}

}  // namespace
}  // namespace shoal::kernels
