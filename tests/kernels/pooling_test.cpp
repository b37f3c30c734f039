#include "shoal/kernels/pooling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/grad_check.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"
#include "shoal/tests/support/reference/pooling.h"

namespace shoal::kernels {
namespace {

namespace reference = test::reference;
using test::OpCase;

struct Images {
  std::int64_t B;
  std::int64_t H;
  std::int64_t W;
  std::int64_t C;
  int window = 2;

  std::int64_t numel() const { return B * H * W * C; }
  Shape shape() const { return {B, H, W, C}; }
  Shape pooled() const { return {B, H / window, W / window, C}; }
  reference::ImageShape dims() const {
    return {static_cast<std::size_t>(B), static_cast<std::size_t>(H), static_cast<std::size_t>(W),
            static_cast<std::size_t>(C)};
  }
  std::size_t size() const { return static_cast<std::size_t>(window); }
  std::string to_string() const { return shape().to_string() + "/" + std::to_string(window); }
  int offset_step() const { return numel() > 5000 ? 31 : numel() > 500 ? 7 : 1; }
};
/// Exact tilings, rows and columns left over, a window of 1, of the whole image and larger than it, nothing at all.
const std::vector<Images> kImages = {{1, 2, 2, 1, 2}, {2, 4, 6, 16, 2},   {2, 5, 7, 17, 2},  {1, 3, 3, 5, 1},
                                     {3, 7, 8, 3, 3}, {1, 4, 4, 33, 4},   {1, 3, 2, 2, 4},   {0, 4, 4, 3, 2},
                                     {2, 4, 4, 0, 2}, {7, 24, 18, 19, 2}, {1, 16, 16, 2, 16}};

OpCase forward_case(const Images& d, const std::vector<float>& x, bool has_argmax) {
  OpCase op{.name = "max_pool forward " + d.to_string(), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("x", d.shape(), x)};
  op.outputs = {{.name = "y", .shape = d.pooled(), .tolerance = test::kExact}};
  if (has_argmax) {
    op.outputs.push_back({.name = "argmax", .shape = d.pooled(), .dtype = DType::U8, .tolerance = test::kExact});
  }
  op.call = [d, has_argmax](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    max_pool_forward(stream, in[0], d.window, out[0], has_argmax ? out[1] : Tensor{});
  };
  op.reference = [d, has_argmax](const OpCase::Doubles& in, const OpCase::Doubles&) {
    const auto want = reference::max_pool(d.dims(), in[0], d.size());
    return has_argmax ? OpCase::Doubles{want.y, want.argmax} : OpCase::Doubles{want.y};
  };
  op.offset_step = d.offset_step();
  return op;
}

OpCase backward_case(const Images& d, const std::vector<float>& x, const std::vector<float>& dy, bool accumulate) {
  const auto argmax = test::run_op_once(forward_case(d, x, true))[1];
  OpCase op{.name = "max_pool backward " + d.to_string(), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("dy", d.pooled(), dy), test::operand("argmax", d.pooled(), DType::U8, argmax)};
  test::OpOutput dx{.name = "dx", .shape = d.shape(), .tolerance = test::kExact};
  op.outputs = {accumulate ? test::accumulated(dx, test::exact_values(d.numel(), 8)) : dx};
  op.call = [d, accumulate](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    max_pool_backward(stream, in[0], in[1], d.window, {out[0], accumulate});
  };
  op.reference = [d](const OpCase::Doubles& in, const OpCase::Doubles& initial) {
    std::vector<double> dx = initial[0];
    dx.resize(static_cast<std::size_t>(d.numel()));
    reference::max_pool_backward(d.dims(), in[0], in[1], d.size(), dx);
    return OpCase::Doubles{dx};
  };
  op.offset_step = d.offset_step();
  return op;
}

TEST(MaxPool, ForwardEqualsReferenceExactly) {
  for (const Images& d : kImages) {
    for (const bool has_argmax : {true, false})
      test::check_op(forward_case(d, test::normal_values(d.numel(), 1), has_argmax));
  }
}

TEST(MaxPool, TiesGoToTheFirst) {
  for (const Images& d : kImages) test::check_op(forward_case(d, test::exact_values(d.numel(), 2), true));
}

TEST(MaxPool, NanIsTheLargestAndInfinityCounts) {
  const Images d{2, 6, 6, 17, 3};
  std::vector<float> x = test::normal_values(d.numel(), 3);
  for (std::size_t i = 0; i < x.size(); i += 5) x[i] = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t i = 2; i < x.size(); i += 7) x[i] = i % 2 == 0 ? INFINITY : -INFINITY;
  test::check_op(forward_case(d, x, true));
  test::check_op(forward_case({1, 2, 2, 1, 2}, std::vector<float>(4, -INFINITY), true));
}

TEST(MaxPool, BackwardEqualsReferenceExactly) {
  for (const Images& d : kImages) {
    for (const bool accumulate : {false, true}) {
      const auto dy = test::exact_values(d.pooled().numel(), 4);
      test::check_op(backward_case(d, test::normal_values(d.numel(), 1), dy, accumulate));
    }
  }
}

TEST(MaxPool, GradientMatchesDifferences) {
  const Images d{2, 5, 4, 3, 2};
  const auto x = test::normal_values(d.numel(), 5);
  const auto dy = test::normal_values(d.pooled().numel(), 6);
  const auto dx = test::as_floats(test::run_op_once(backward_case(d, x, dy, false))[0]);
  const auto loss = [&](std::span<const double> at) {
    const auto y = reference::max_pool(d.dims(), {at.begin(), at.end()}, d.size()).y;
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * static_cast<double>(dy[i]);
    return sum;
  };
  EXPECT_TRUE(test::gradient_matches(loss, std::vector<double>(x.begin(), x.end()), dx, 7));
}

/// Includes more pixels than a block of 64, channels over a strip of 512, and enough to be shared.
const std::vector<Images> kAverageImages = {{1, 1, 1, 1}, {3, 4, 4, 5},    {2, 9, 8, 17}, {2, 3, 5, 515},
                                            {0, 2, 2, 3}, {5, 20, 19, 33}, {2, 3, 3, 0}};

OpCase average_case(const Images& d, const std::vector<float>& x, test::Tolerance tolerance) {
  OpCase op{.name = "average forward " + d.to_string(), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("x", d.shape(), x)};
  op.outputs = {{.name = "y", .shape = {d.B, d.C}, .tolerance = tolerance}};
  op.call = [](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    global_average_pool_forward(stream, in[0], out[0]);
  };
  op.reference = [d](const OpCase::Doubles& in, const OpCase::Doubles&) {
    return OpCase::Doubles{reference::global_average_pool(d.dims(), in[0])};
  };
  op.offset_step = d.offset_step();
  return op;
}

TEST(GlobalAveragePool, ForwardEqualsReference) {
  for (const Images& d : kAverageImages)
    test::check_op(average_case(d, test::normal_values(d.numel(), 1, 1), test::kReduction));
  // Exact sums over a power of two of pixels.
  test::check_op(average_case({2, 16, 16, 3}, test::exact_values(2 * 256 * 3, 2), test::kExact));
}

TEST(GlobalAveragePool, BackwardEqualsReference) {
  for (const Images& d : kAverageImages) {
    for (const bool accumulate : {false, true}) {
      OpCase op{.name = "average backward " + d.to_string(), .inputs = {}, .outputs = {}, .call = {}};
      op.inputs = {test::operand("dy", {d.B, d.C}, test::normal_values(d.B * d.C, 3))};
      test::OpOutput dx{.name = "dx",
                        .shape = d.shape(),
                        .tolerance = accumulate ? test::kElementwiseCancelling : test::kOneRounding};
      op.outputs = {accumulate ? test::accumulated(dx, test::normal_values(d.numel(), 4)) : dx};
      op.call = [accumulate](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
        global_average_pool_backward(stream, in[0], {out[0], accumulate});
      };
      op.reference = [d](const OpCase::Doubles& in, const OpCase::Doubles& initial) {
        std::vector<double> dx = initial[0];
        dx.resize(static_cast<std::size_t>(d.numel()));
        reference::global_average_pool_backward(d.dims(), in[0], dx);
        return OpCase::Doubles{dx};
      };
      op.offset_step = d.offset_step();
      test::check_op(op);
    }
  }
}

TEST(Pooling, WrongArguments_AreNamed) {
  const test::HostStream stream;
  const test::GuardedTensor x({1, 4, 4, 3}, DType::F32);
  const test::GuardedTensor y({1, 2, 2, 3}, DType::F32);
  const test::GuardedTensor argmax({1, 2, 2, 3}, DType::U8);
  const test::GuardedTensor means({1, 3}, DType::F32);
  const test::GuardedTensor no_pixels({1, 0, 4, 3}, DType::F32);
  test::expect_error(ErrorCode::InvalidArgument, {"[max_pool_forward]", "window is 0", "[1, 16]"},
                     [&] { max_pool_forward(*stream, x.tensor(), 0, y.tensor(), {}); });
  test::expect_error(ErrorCode::InvalidArgument, {"y has shape (1, 2, 2, 3)", "(1, 1, 1, 3)"},
                     [&] { max_pool_forward(*stream, x.tensor(), 3, y.tensor(), {}); });
  test::expect_error(ErrorCode::InvalidArgument, {"argmax is fp32", "u8"}, [&] {
    max_pool_backward(*stream, y.tensor(), y.tensor(), 2, {x.tensor(), false});
  });
  test::expect_error(ErrorCode::InvalidArgument, {"[global_average_pool_forward]", "H W is 0"},
                     [&] { global_average_pool_forward(*stream, no_pixels.tensor(), means.tensor()); });
}

}  // namespace
}  // namespace shoal::kernels
