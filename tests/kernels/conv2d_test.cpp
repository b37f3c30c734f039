#include "shoal/kernels/conv2d.h"

#include <gtest/gtest.h>

#include <bit>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "shoal/runtime/device/runtime.h"
#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/grad_check.h"
#include "shoal/tests/support/op_harness.h"
#include "shoal/tests/support/reference/conv2d.h"

namespace shoal::kernels {
namespace {

namespace reference = test::reference;
using test::OpCase;
using test::OpOutput;

/// batch, height, width, in, out, kernel, stride, padding. Kernels of 1 to 5, strides of 1 to 3, even kernels, no,
/// partial and more padding than half the kernel, odd channels, channels beyond a panel, and more taps and positions
/// than a part of k (256) or a tile of rows (384).
const std::vector<Conv2dShape> kShapes = {
    {1, 1, 1, 1, 1, 1, 1, 0},   {2, 5, 4, 3, 7, 3, 1, 1},   {1, 9, 9, 1, 16, 3, 1, 1},  {3, 8, 8, 4, 5, 3, 2, 1},
    {2, 7, 5, 6, 3, 1, 2, 0},   {2, 6, 6, 16, 33, 1, 1, 0}, {1, 10, 11, 2, 3, 5, 3, 2}, {2, 4, 4, 17, 9, 2, 2, 0},
    {1, 3, 3, 2, 2, 3, 1, 3},   {1, 8, 8, 3, 4, 1, 3, 1},   {2, 6, 6, 48, 8, 3, 1, 1},  {1, 16, 15, 5, 40, 3, 1, 1},
    {5, 14, 14, 3, 6, 3, 1, 1}, {2, 5, 5, 3, 4, 2, 1, 1},   {1, 12, 12, 8, 2, 4, 2, 1}};

std::string name_of(const char* op, const Conv2dShape& s) {
  std::string name = op;
  for (const std::int64_t value :
       {s.batch, s.height, s.width, s.in_channels, s.out_channels, s.kernel, s.stride, s.padding}) {
    name += " " + std::to_string(value);
  }
  return name;
}

Shape input_shape(const Conv2dShape& s) { return {s.batch, s.height, s.width, s.in_channels}; }
Shape weight_shape(const Conv2dShape& s) { return {s.out_channels, s.in_channels, s.kernel, s.kernel}; }
Shape output_shape(const Conv2dShape& s) { return {s.batch, s.out_height(), s.out_width(), s.out_channels}; }

std::vector<float> values_for(const Shape& shape, std::uint64_t seed) {
  return test::normal_values(shape.numel(), seed);
}

/// One of the three ops: what it reads and writes, the call and the reference.
struct Conv2dOp {
  const char* name;
  Shape (*first)(const Conv2dShape& s);
  Shape (*second)(const Conv2dShape& s);
  Shape (*result)(const Conv2dShape& s);
  std::int64_t (*workspace_bytes)(const Conv2dShape& s);
  void (*call)(Stream& stream, const Conv2dShape& s, std::span<const Tensor> in, const GradTarget& out,
               const Tensor& workspace);
  std::vector<double> (*reference)(const Conv2dShape& s, std::span<const double> a, std::span<const double> b);
};

const Conv2dOp kForward = {
    "conv2d_forward",
    input_shape,
    weight_shape,
    output_shape,
    conv2d_forward_workspace_bytes,
    [](Stream& stream, const Conv2dShape& s, std::span<const Tensor> in, const GradTarget& out,
       const Tensor& workspace) { conv2d_forward(stream, s, in[0], in[1], out.tensor, workspace); },
    reference::conv2d};
const Conv2dOp kBackwardInput = {
    "conv2d_backward_input",
    output_shape,
    weight_shape,
    input_shape,
    conv2d_backward_input_workspace_bytes,
    [](Stream& stream, const Conv2dShape& s, std::span<const Tensor> in, const GradTarget& out,
       const Tensor& workspace) { conv2d_backward_input(stream, s, in[0], in[1], out, workspace); },
    reference::conv2d_dx};
const Conv2dOp kBackwardWeight = {
    "conv2d_backward_weight",
    input_shape,
    output_shape,
    weight_shape,
    conv2d_backward_weight_workspace_bytes,
    [](Stream& stream, const Conv2dShape& s, std::span<const Tensor> in, const GradTarget& out,
       const Tensor& workspace) { conv2d_backward_weight(stream, s, in[0], in[1], out, workspace); },
    reference::conv2d_dw};

OpCase case_of(const Conv2dOp& conv, const Conv2dShape& s, bool accumulate) {
  OpCase op{.name = name_of(conv.name, s), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("first", conv.first(s), values_for(conv.first(s), 1)),
               test::operand("second", conv.second(s), values_for(conv.second(s), 2))};
  // Where no tap reaches, and where there is nothing to sum over, results are 0.
  OpOutput result{.name = "result", .shape = conv.result(s), .tolerance = test::kProduct, .expect_zeros = true};
  if (accumulate) result = test::accumulated(result, values_for(conv.result(s), 3));
  const std::int64_t workspace_bytes = conv.workspace_bytes(s);
  op.outputs = {result, {.name = "workspace", .shape = {workspace_bytes}, .dtype = DType::U8, .is_compared = false}};
  op.call = [conv, s, accumulate](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    conv.call(stream, s, in, {out[0], accumulate}, out[1]);
  };
  op.reference = [conv, s, accumulate](const OpCase::Doubles& in, const OpCase::Doubles& initial) {
    std::vector<double> want = conv.reference(s, in[0], in[1]);
    if (accumulate) {
      for (std::size_t i = 0; i < want.size(); ++i) want[i] += initial[0][i];
    }
    return OpCase::Doubles{want, {}};
  };
  op.offset_step = output_shape(s).numel() * s.in_channels * s.kernel * s.kernel > 100000 ? 9 : 1;
  return op;
}

TEST(Conv2d, Forward_MatchesTheReference) {
  for (const Conv2dShape& s : kShapes) test::check_op(case_of(kForward, s, false));
}

TEST(Conv2d, BackwardInput_MatchesTheReference) {
  for (const Conv2dShape& s : kShapes) {
    test::check_op(case_of(kBackwardInput, s, false));
    test::check_op(case_of(kBackwardInput, s, true));
  }
}

TEST(Conv2d, BackwardWeight_MatchesTheReference) {
  for (const Conv2dShape& s : kShapes) {
    test::check_op(case_of(kBackwardWeight, s, false));
    test::check_op(case_of(kBackwardWeight, s, true));
  }
}

TEST(Conv2d, BackwardWeight_SummedInGroupsOfImages_MatchesTheReference) {
  // 5 images of 900 outputs: two groups and a tile or two, so that partial sums are folded, the last of fewer images.
  for (const Conv2dShape& s : {Conv2dShape{5, 30, 30, 2, 3, 3, 1, 1}, Conv2dShape{5, 30, 30, 3, 2, 1, 1, 0}}) {
    EXPECT_GE(conv2d_backward_weight_workspace_bytes(s), 2 * 4 * weight_shape(s).numel());
    OpCase op = case_of(kBackwardWeight, s, true);
    op.offset_step = 16;
    test::check_op(op);
  }
}

TEST(Conv2d, EmptyBatch_WritesZerosOrLeavesWhatIsThere) {
  for (const Conv2dShape& s : {Conv2dShape{0, 4, 4, 3, 5, 3, 1, 1}, Conv2dShape{0, 4, 4, 3, 5, 1, 2, 0}}) {
    test::check_op(case_of(kForward, s, false));
    test::check_op(case_of(kBackwardInput, s, false));
    test::check_op(case_of(kBackwardWeight, s, false));
    test::check_op(case_of(kBackwardWeight, s, true));
  }
}

TEST(Conv2d, ExactInputs_HaveExactOutputs) {
  const Conv2dShape s{2, 9, 8, 5, 6, 3, 2, 1};
  for (const Conv2dOp& conv : {kForward, kBackwardInput, kBackwardWeight}) {
    OpCase op = case_of(conv, s, false);
    op.inputs[0] = test::operand("first", conv.first(s), test::exact_values(conv.first(s).numel(), 7));
    op.inputs[1] = test::operand("second", conv.second(s), test::exact_values(conv.second(s).numel(), 8));
    op.outputs[0].tolerance = test::kExact;
    test::check_op(op);
  }
}

TEST(Conv2d, Forward_BitsOfAnImageDoNotDependOnTheOthers) {
  const Conv2dShape all{7, 10, 9, 12, 20, 3, 1, 1};
  Conv2dShape one = all;
  one.batch = 1;
  const OpCase all_case = case_of(kForward, all, false);
  OpCase one_case = case_of(kForward, one, false);
  const std::vector<float> x = values_for(input_shape(all), 1);
  const auto image_numel = static_cast<std::ptrdiff_t>(input_shape(one).numel());
  one_case.inputs[0] = test::operand("first", input_shape(one), std::vector<float>(x.end() - image_numel, x.end()));
  const auto y_all = test::as_floats(test::run_op_once(all_case)[0]);
  const auto y_one = test::as_floats(test::run_op_once(one_case)[0]);
  const auto result_numel = static_cast<std::ptrdiff_t>(output_shape(one).numel());
  EXPECT_EQ(y_one, std::vector<float>(y_all.end() - result_numel, y_all.end()));
}

TEST(Conv2d, Gradients_MatchDifferencesOfTheReference) {
  for (const Conv2dShape& s : {Conv2dShape{2, 6, 5, 3, 4, 3, 2, 1}, Conv2dShape{2, 4, 4, 3, 4, 3, 1, 1}}) {
    const std::vector<float> x = values_for(input_shape(s), 1);
    const std::vector<float> w = values_for(weight_shape(s), 2);
    const std::vector<float> dy = values_for(output_shape(s), 4);
    const std::vector<double> x_at(x.begin(), x.end());
    const std::vector<double> w_at(w.begin(), w.end());
    const auto loss = [&](std::span<const double> images, std::span<const double> weights) {
      const std::vector<double> y = reference::conv2d(s, images, weights);
      return std::inner_product(y.begin(), y.end(), dy.begin(), 0.0);
    };
    OpCase input_case = case_of(kBackwardInput, s, false);
    input_case.inputs[0] = test::operand("first", output_shape(s), dy);
    input_case.inputs[1] = test::operand("second", weight_shape(s), w);
    OpCase weight_case = case_of(kBackwardWeight, s, false);
    weight_case.inputs[0] = test::operand("first", input_shape(s), x);
    weight_case.inputs[1] = test::operand("second", output_shape(s), dy);
    EXPECT_TRUE(test::gradient_matches([&](std::span<const double> at) { return loss(at, w_at); }, x_at,
                                       test::as_floats(test::run_op_once(input_case)[0]), 5));
    EXPECT_TRUE(test::gradient_matches([&](std::span<const double> at) { return loss(x_at, at); }, w_at,
                                       test::as_floats(test::run_op_once(weight_case)[0]), 6));
  }
}

TEST(Conv2d, Workspace_HoldsTheWeightsInAnotherOrderUnlessTheyHaveOneTap) {
  const Conv2dShape s{4, 16, 16, 8, 8, 3, 1, 1};
  const Conv2dShape one_tap{4, 16, 16, 8, 8, 1, 1, 0};
  for (const Conv2dOp& conv : {kForward, kBackwardInput, kBackwardWeight}) {
    EXPECT_GE(conv.workspace_bytes(s), 4 * weight_shape(s).numel());
    EXPECT_EQ(conv.workspace_bytes(one_tap), 0);
  }
}

TEST(Conv2d, OnTheSimDevice_ChecksAndComputesNothing) {
  const std::unique_ptr<Device> device = Runtime().open_device(DeviceKind::Sim);
  const std::unique_ptr<Stream> stream = device->make_stream(StreamRole::Compute, "sim");
  std::int64_t next = 4096;  // addresses that nothing may read
  const auto at = [&](const Shape& shape, DType dtype = DType::F32) {
    void* const data = std::bit_cast<void*>(next);
    next += 1 << 20;
    return Tensor(data, shape, dtype);
  };
  const Conv2dShape s{2, 6, 6, 3, 4, 3, 1, 1};
  const Tensor x = at(input_shape(s));
  const Tensor w = at(weight_shape(s));
  const Tensor y = at(output_shape(s));
  const Tensor workspace =
      at({conv2d_forward_workspace_bytes(s) + conv2d_backward_weight_workspace_bytes(s)}, DType::U8);
  conv2d_forward(*stream, s, x, w, y, workspace);
  conv2d_backward_input(*stream, s, y, w, {at(input_shape(s))}, workspace);
  conv2d_backward_weight(*stream, s, x, y, {at(weight_shape(s))}, workspace);
  EXPECT_THROW(conv2d_forward(*stream, s, x, w, x, workspace), Error);
  stream->synchronize();
}

TEST(Conv2d, WrongArguments_AreRefusedByName) {
  test::HostStream stream;
  std::vector<float> memory(2000);
  const auto at = [&](std::int64_t offset, const Shape& shape) {
    return Tensor(memory.data() + offset, shape, DType::F32);
  };
  const Conv2dShape s{1, 4, 4, 2, 3, 3, 1, 1};
  const Tensor x = at(0, input_shape(s));
  const Tensor w = at(100, weight_shape(s));
  const Tensor y = at(200, output_shape(s));
  const Tensor workspace(memory.data() + 300, {1000}, DType::U8);
  const auto refused = [&](const std::vector<std::string>& texts, const std::function<void()>& call) {
    test::expect_error(ErrorCode::InvalidArgument, texts, call);
  };
  refused({"[conv2d_forward]", "w", "(3, 2, 3, 3)"}, [&] { conv2d_forward(*stream, s, x, x, y, workspace); });
  refused({"workspace", "at least"}, [&] { conv2d_forward(*stream, s, x, w, y, {}); });
  refused({"overlap"}, [&] { conv2d_forward(*stream, s, x, w, at(10, output_shape(s)), workspace); });
  refused({"[conv2d_backward_input]", "dx"}, [&] { conv2d_backward_input(*stream, s, y, w, {y}, workspace); });
  refused({"[conv2d_backward_weight]", "dw"}, [&] { conv2d_backward_weight(*stream, s, x, y, {y}, workspace); });
  // A kernel that is larger than the padded image, also where rounding toward zero would give one output.
  refused({"kernel 5"}, [] { conv2d_forward_workspace_bytes({1, 4, 4, 1, 1, 5, 2, 0}); });
  refused({"stride 0"}, [] { conv2d_backward_input_workspace_bytes({1, 4, 4, 1, 1, 3, 0, 1}); });
  refused({"0 output channels"}, [] { conv2d_backward_weight_workspace_bytes({1, 4, 4, 1, 0, 3, 1, 1}); });
}

}  // namespace
}  // namespace shoal::kernels
