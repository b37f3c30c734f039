#include "shoal/kernels/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/grad_check.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"
#include "shoal/tests/support/reference/activation.h"

namespace shoal::kernels {
namespace {

namespace reference = test::reference;
using test::OpCase;
using test::OpOutput;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Kind {
  Activation activation;
  const char* name;
};
const std::vector<Kind> kKinds = {{Activation::Relu, "relu"}, {Activation::Gelu, "gelu"}, {Activation::Silu, "silu"}};

/// Around a vector of 16, a chunk of 16384 and the size from which workers share.
const std::vector<std::int64_t> kSizes = {0, 1, 2, 15, 16, 17, 31, 257, 40009};

OpCase forward_case(const Kind& kind, const std::vector<float>& z, test::Tolerance tolerance) {
  const auto numel = static_cast<std::int64_t>(z.size());
  OpCase op{
      .name = std::string(kind.name) + " forward " + std::to_string(numel), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("z", {numel}, z)};
  op.outputs = {{.name = "y",
                 .shape = {numel},
                 .tolerance = tolerance,
                 .may_alias = 0,
                 .expect_zeros = kind.activation == Activation::Relu}};
  op.call = [kind](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    activation_forward(stream, kind.activation, in[0], out[0]);
  };
  op.reference = [kind](const OpCase::Doubles& in, const OpCase::Doubles&) {
    std::vector<double> y;
    for (const double value : in[0]) y.push_back(reference::activation(kind.activation, value));
    return OpCase::Doubles{y};
  };
  op.offset_step = numel > 10000 ? 13 : 1;
  return op;
}

OpCase backward_case(const Kind& kind, const std::vector<float>& z, const std::vector<float>& dy, bool accumulate) {
  const auto numel = static_cast<std::int64_t>(z.size());
  OpCase op{
      .name = std::string(kind.name) + " backward " + std::to_string(numel), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("z", {numel}, z), test::operand("dy", {numel}, dy)};
  OpOutput dz{.name = "dz", .shape = {numel}, .tolerance = test::kElementwiseCancelling};
  dz.expect_zeros = kind.activation == Activation::Relu;
  if (accumulate) {
    dz = test::accumulated(dz, test::normal_values(numel, 77));
  } else {
    dz.may_alias = 1;
  }
  op.outputs = {dz};
  op.call = [kind, accumulate](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    activation_backward(stream, kind.activation, in[0], in[1], {out[0], accumulate});
  };
  op.reference = [kind](const OpCase::Doubles& in, const OpCase::Doubles& initial) {
    std::vector<double> dz;
    for (std::size_t i = 0; i < in[0].size(); ++i) {
      const double old = initial[0].empty() ? 0 : initial[0][i];
      dz.push_back(old + reference::activation_slope(kind.activation, in[0][i]) * in[1][i]);
    }
    return OpCase::Doubles{dz};
  };
  op.offset_step = numel > 10000 ? 13 : 1;
  return op;
}

TEST(Activation, ForwardEqualsReference) {
  for (const Kind& kind : kKinds) {
    const test::Tolerance tolerance = kind.activation == Activation::Relu ? test::kExact : test::kElementwiseCancelling;
    for (const std::int64_t numel : kSizes) {
      test::check_op(forward_case(kind, test::normal_values(numel, 1, 0, 3), tolerance));
    }
  }
}

TEST(Activation, BackwardEqualsReference) {
  for (const Kind& kind : kKinds) {
    for (const std::int64_t numel : kSizes) {
      for (const bool accumulate : {false, true}) {
        test::check_op(
            backward_case(kind, test::normal_values(numel, 2, 0, 3), test::normal_values(numel, 3), accumulate));
      }
    }
  }
}

TEST(Activation, NearZeroKeepsRelativeAccuracy) {
  // Near 0 both are z / 2 plus a correction: a form that cancels would lose everything here.
  std::vector<float> z;
  for (int exponent = -40; exponent <= -1; ++exponent) {
    for (const float mantissa : {1.0f, -1.0f, 1.37f, -1.99f}) z.push_back(std::ldexp(mantissa, exponent));
  }
  for (const Kind& kind : kKinds) test::check_op(forward_case(kind, z, test::kElementwise));
}

TEST(Activation, ExtremesSaturate) {
  const std::vector<float> z = {-3e38f, -1e20f, -200.0f, -104.0f, 104.0f, 200.0f, 1e20f, 3e38f, -0.0f, 0.0f, kInf};
  const std::vector<float> dy(z.size(), 1.0f);
  for (const Kind& kind : kKinds) {
    const auto y = test::as_floats(test::run_op_once(forward_case(kind, z, test::kExact))[0]);
    const auto dz = test::as_floats(test::run_op_once(backward_case(kind, z, dy, false))[0]);
    for (std::size_t i = 0; i < z.size(); ++i) {
      EXPECT_EQ(y[i], z[i] > 0 ? z[i] : 0.0f) << kind.name << " of " << z[i];
      if (z[i] == 0) continue;
      EXPECT_EQ(dz[i], z[i] > 0 ? 1.0f : 0.0f) << kind.name << " slope at " << z[i];
    }
  }
}

TEST(Activation, NanPropagates) {
  const std::vector<float> z = {kNan, 1.0f, -kNan};
  for (const Kind& kind : kKinds) {
    const auto y = test::as_floats(test::run_op_once(forward_case(kind, z, test::kExact))[0]);
    EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[2])) << kind.name;
    const auto dz = test::as_floats(test::run_op_once(backward_case(kind, {1.0f, 2.0f}, {kNan, 1.0f}, false))[0]);
    EXPECT_TRUE(std::isnan(dz[0])) << kind.name;
    EXPECT_FALSE(std::isnan(dz[1])) << kind.name;
  }
}

TEST(Activation, AdversarialInputsRepeat) {
  for (const Kind& kind : kKinds) {
    OpCase op = forward_case(kind, test::adversarial_values(200, 5), test::kElementwise);
    if (kind.activation != Activation::Relu) op.reference = nullptr;
    test::check_op(op);
  }
}

TEST(Activation, GradientMatchesDifferences) {
  const std::vector<float> z = test::normal_values(50, 11, 0.5);
  const std::vector<float> dy = test::normal_values(50, 12);
  for (const Kind& kind : kKinds) {
    const auto dz = test::as_floats(test::run_op_once(backward_case(kind, z, dy, false))[0]);
    const auto loss = [&](std::span<const double> at) {
      double sum = 0;
      for (std::size_t i = 0; i < at.size(); ++i)
        sum += reference::activation(kind.activation, at[i]) * static_cast<double>(dy[i]);
      return sum;
    };
    EXPECT_TRUE(test::gradient_matches(loss, std::vector<double>(z.begin(), z.end()), dz, 13)) << kind.name;
  }
}

TEST(Activation, ReluBackwardAcceptsOutputForInput) {
  const std::vector<float> z = test::normal_values(100, 14);
  const std::vector<float> dy = test::normal_values(100, 15);
  const auto y = test::as_floats(test::run_op_once(forward_case(kKinds[0], z, test::kExact))[0]);
  EXPECT_EQ(test::run_op_once(backward_case(kKinds[0], z, dy, false)),
            test::run_op_once(backward_case(kKinds[0], y, dy, false)));
}

TEST(Activation, WrongArguments_AreNamed) {
  const test::HostStream stream;
  const test::GuardedTensor z({4}, DType::F32);
  const test::GuardedTensor y({5}, DType::F32);
  const test::GuardedTensor bytes({4}, DType::U8);
  test::expect_error(ErrorCode::InvalidArgument, {"[activation_forward]", "y has shape (5)", "(4)"},
                     [&] { activation_forward(*stream, Activation::Relu, z.tensor(), y.tensor()); });
  test::expect_error(ErrorCode::InvalidArgument, {"z is u8", "fp32"},
                     [&] { activation_forward(*stream, Activation::Relu, bytes.tensor(), y.tensor()); });
  test::expect_error(ErrorCode::InvalidArgument, {"z is none"},
                     [&] { activation_forward(*stream, Activation::Relu, {}, y.tensor()); });
  const Tensor ahead = y.tensor().flat_slice(0, 4);
  const Tensor behind = y.tensor().flat_slice(1, 4);
  test::expect_error(ErrorCode::InvalidArgument, {"y and z overlap"},
                     [&] { activation_forward(*stream, Activation::Relu, ahead, behind); });
  test::expect_error(ErrorCode::InvalidArgument, {"dz and z overlap"}, [&] {
    activation_backward(*stream, Activation::Relu, ahead, z.tensor(), {behind, false});
  });
}

}  // namespace
}  // namespace shoal::kernels
