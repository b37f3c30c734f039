#include "shoal/kernels/linear.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "shoal/runtime/device/runtime.h"
#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/grad_check.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"
#include "shoal/tests/support/reference/linear.h"

namespace shoal::kernels {
namespace {

namespace reference = test::reference;
using test::OpCase;
using test::OpOutput;
using test::Tolerance;

struct Dims {
  std::int64_t M;
  std::int64_t N;
  std::int64_t K;

  std::string to_string() const { return std::to_string(M) + "x" + std::to_string(N) + "x" + std::to_string(K); }
};

/// Odd ones, edges of the register block (6 or 12 rows, 8 to 32 columns), of a tile (384 rows) and of a part of k
/// (256), a strip of columns (512) of the bias gradient, and several tiles.
const std::vector<Dims> kDims = {{1, 1, 1},     {2, 3, 5},    {5, 17, 9},   {6, 16, 8},    {7, 15, 31},
                                 {12, 32, 64},  {13, 33, 65}, {97, 50, 33}, {383, 31, 4},  {385, 65, 3},
                                 {25, 40, 257}, {3, 5, 1000}, {30, 515, 3}, {190, 150, 20}};
const std::vector<Dims> kEmptyDims = {{0, 3, 4}, {3, 0, 4}, {3, 4, 0}, {0, 0, 0}, {1, 0, 0}};

/// Large cases run at fewer offsets.
int offset_step(const Dims& d) { return d.M * d.N * d.K > 100000 ? 9 : 1; }

double gelu(double z) { return 0.5 * z * (1 + std::tanh(std::sqrt(2 / M_PI) * (z + 0.044715 * z * z * z))); }

std::vector<double> activated(std::vector<double> z, Epilogue epilogue) {
  for (double& value : z) {
    if (epilogue == Epilogue::Relu) value = std::max(0.0, value);
    if (epilogue == Epilogue::Gelu) value = gelu(value);
  }
  return z;
}

struct ForwardOptions {
  Epilogue epilogue = Epilogue::None;
  bool has_bias = true;
  bool has_pre = false;
  Tolerance tolerance = test::kProduct;
};

OpCase forward_case(const Dims& d, const std::vector<float>& x, const std::vector<float>& w,
                    const std::vector<float>& bias, const ForwardOptions& options) {
  OpCase op{.name = "linear_forward " + d.to_string(), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("x", {d.M, d.K}, x), test::operand("w", {d.N, d.K}, w)};
  if (options.has_bias) op.inputs.push_back(test::operand("bias", {d.N}, bias));
  op.outputs = {{.name = "y",
                 .shape = {d.M, d.N},
                 .tolerance = options.tolerance,
                 .expect_zeros = options.epilogue == Epilogue::Relu}};
  if (options.has_pre) op.outputs.push_back({.name = "pre", .shape = {d.M, d.N}, .tolerance = options.tolerance});
  op.call = [options](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    linear_forward(stream, in[0], in[1], options.has_bias ? in[2] : Tensor{}, out[0], options.epilogue,
                   options.has_pre ? out[1] : Tensor{});
  };
  op.reference = [d, options](const OpCase::Doubles& in, const OpCase::Doubles&) {
    std::vector<double> z =
        reference::linear(in[0], in[1], options.has_bias ? in[2] : std::vector<double>{}, d.M, d.N, d.K);
    OpCase::Doubles want = {activated(z, options.epilogue)};
    if (options.has_pre) want.push_back(z);
    return want;
  };
  op.offset_step = offset_step(d);
  return op;
}

/// z has a deviation near 1, where activations bend.
OpCase normal_forward_case(const Dims& d, const ForwardOptions& options) {
  const double deviation = 1 / std::sqrt(static_cast<double>(d.K + 1));
  return forward_case(d, test::normal_values(d.M * d.K, 1), test::normal_values(d.N * d.K, 2, 0, deviation),
                      test::normal_values(d.N, 3, 0, 0.5), options);
}

/// One of the gradients: inputs, the call and the reference.
struct Backward {
  std::string name;
  Shape (*shape)(const Dims& d);
  std::vector<test::OpInput> (*inputs)(const Dims& d);
  void (*call)(Stream& stream, std::span<const Tensor> in, const GradTarget& out);
  std::vector<double> (*reference)(const OpCase::Doubles& in, const Dims& d);
};

const std::vector<Backward> kBackwards = {
    {"linear_backward_input",
     [](const Dims& d) {
       return Shape{d.M, d.K};
     },
     [](const Dims& d) {
       return std::vector{test::operand("dy", {d.M, d.N}, test::normal_values(d.M * d.N, 4)),
                          test::operand("w", {d.N, d.K}, test::normal_values(d.N * d.K, 5))};
     },
     [](Stream& stream, std::span<const Tensor> in, const GradTarget& out) {
       linear_backward_input(stream, in[0], in[1], out);
     },
     [](const OpCase::Doubles& in, const Dims& d) { return reference::linear_dx(in[0], in[1], d.M, d.N, d.K); }},
    {"linear_backward_weight",
     [](const Dims& d) {
       return Shape{d.N, d.K};
     },
     [](const Dims& d) {
       return std::vector{test::operand("dy", {d.M, d.N}, test::normal_values(d.M * d.N, 6)),
                          test::operand("x", {d.M, d.K}, test::normal_values(d.M * d.K, 7))};
     },
     [](Stream& stream, std::span<const Tensor> in, const GradTarget& out) {
       linear_backward_weight(stream, in[0], in[1], out);
     },
     [](const OpCase::Doubles& in, const Dims& d) { return reference::linear_dw(in[0], in[1], d.M, d.N, d.K); }},
    {"linear_backward_bias", [](const Dims& d) { return Shape{d.N}; },
     [](const Dims& d) {
       return std::vector{test::operand("dy", {d.M, d.N}, test::normal_values(d.M * d.N, 8))};
     },
     [](Stream& stream, std::span<const Tensor> in, const GradTarget& out) {
       linear_backward_bias(stream, in[0], out);
     },
     [](const OpCase::Doubles& in, const Dims& d) { return reference::linear_db(in[0], d.M, d.N); }},
};

OpCase backward_case(const Backward& backward, const Dims& d, bool accumulate) {
  OpCase op{.name = backward.name + " " + d.to_string(), .inputs = backward.inputs(d), .outputs = {}, .call = {}};
  OpOutput output{.name = "gradient", .shape = backward.shape(d), .tolerance = test::kProduct};
  // With nothing to sum over, a gradient is all zeros.
  output.expect_zeros = d.M * d.N * d.K == 0;
  if (accumulate) output = test::accumulated(output, test::normal_values(output.shape.numel(), 9));
  op.outputs = {output};
  op.call = [backward, accumulate](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    backward.call(stream, in, {out[0], accumulate});
  };
  op.reference = [backward, d, accumulate](const OpCase::Doubles& in, const OpCase::Doubles& initial) {
    std::vector<double> want = backward.reference(in, d);
    if (accumulate) {
      for (std::size_t i = 0; i < want.size(); ++i) want[i] += initial[0][i];
    }
    return OpCase::Doubles{want};
  };
  op.offset_step = offset_step(d);
  return op;
}

TEST(Linear, Forward_MatchesTheReference) {
  for (const Dims& d : kDims) {
    test::check_op(normal_forward_case(d, {}));
    test::check_op(normal_forward_case(d, {.has_bias = false}));
  }
}

TEST(Linear, Forward_WithRelu_MatchesTheReference) {
  for (const Dims& d : kDims) test::check_op(normal_forward_case(d, {.epilogue = Epilogue::Relu}));
}

TEST(Linear, Forward_WithGelu_MatchesTheReferenceAndStoresWhatTheBackwardNeeds) {
  for (const Dims& d : kDims) {
    test::check_op(normal_forward_case(d, {.epilogue = Epilogue::Gelu, .has_pre = true}));
    test::check_op(normal_forward_case(d, {.epilogue = Epilogue::Gelu}));
  }
}

TEST(Linear, Forward_GeluWithAndWithoutPre_HasTheSameBits) {
  const Dims d{20, 30, 40};
  const auto with = test::run_op_once(normal_forward_case(d, {.epilogue = Epilogue::Gelu, .has_pre = true}));
  const auto without = test::run_op_once(normal_forward_case(d, {.epilogue = Epilogue::Gelu}));
  EXPECT_EQ(with[0], without[0]);
}

TEST(Linear, Forward_ExactInputs_HaveExactOutputs) {
  for (const Dims& d : kDims) {
    test::check_op(forward_case(d, test::exact_values(d.M * d.K, 11), test::exact_values(d.N * d.K, 12),
                                test::exact_values(d.N, 13), {.tolerance = test::kExact}));
  }
}

TEST(Linear, Forward_EmptyExtents_AreLegal) {
  for (const Dims& d : kEmptyDims) {
    test::check_op(normal_forward_case(d, {}));
    OpCase without_bias = normal_forward_case(d, {.has_bias = false});
    without_bias.outputs[0].expect_zeros = true;
    test::check_op(without_bias);
  }
}

TEST(Linear, Backward_MatchesTheReference) {
  for (const Backward& backward : kBackwards) {
    for (const Dims& d : kDims) {
      test::check_op(backward_case(backward, d, false));
      test::check_op(backward_case(backward, d, true));
    }
  }
}

TEST(Linear, Backward_EmptyExtents_WriteZerosOrLeaveWhatIsThere) {
  for (const Backward& backward : kBackwards) {
    for (const Dims& d : kEmptyDims) {
      test::check_op(backward_case(backward, d, false));
      test::check_op(backward_case(backward, d, true));
    }
  }
}

TEST(Linear, Backward_OfUnwantedGradients_DoesNothing) {
  test::HostStream stream;
  linear_backward_input(*stream, {}, {}, {});
  linear_backward_weight(*stream, {}, {}, {});
  linear_backward_bias(*stream, {}, {});
  stream->synchronize();
}

TEST(Linear, Forward_BitsOfARowDoNotDependOnTheOtherRows) {
  const Dims all{250, 70, 800};
  const Dims some{9, 70, 800};
  const std::vector<float> x = test::normal_values(all.M * all.K, 21);
  const std::vector<float> w = test::normal_values(all.N * all.K, 22);
  const std::vector<float> bias = test::normal_values(all.N, 23);
  const auto y_all = test::as_floats(test::run_op_once(forward_case(all, x, w, bias, {}))[0]);
  const std::int64_t first_row = 187;
  const std::vector<float> x_some(x.begin() + first_row * all.K, x.begin() + (first_row + some.M) * all.K);
  const auto y_some = test::as_floats(test::run_op_once(forward_case(some, x_some, w, bias, {}))[0]);
  const std::vector<float> expected(y_all.begin() + first_row * all.N, y_all.begin() + (first_row + some.M) * all.N);
  EXPECT_EQ(y_some, expected);
}

TEST(Linear, Gradients_MatchDifferencesOfTheReference) {
  const Dims d{9, 21, 14};
  const std::vector<float> x = test::normal_values(d.M * d.K, 31);
  const std::vector<float> w = test::normal_values(d.N * d.K, 32);
  const std::vector<float> dy = test::normal_values(d.M * d.N, 33);
  const auto doubles = [](const std::vector<float>& v) { return std::vector<double>(v.begin(), v.end()); };
  const auto loss = [&](std::span<const double> x_at, std::span<const double> w_at, std::span<const double> bias_at) {
    const std::vector<double> y = reference::linear(x_at, w_at, bias_at, d.M, d.N, d.K);
    return std::inner_product(y.begin(), y.end(), dy.begin(), 0.0);
  };
  test::GuardedTensor dx({d.M, d.K}, DType::F32);
  test::GuardedTensor dw({d.N, d.K}, DType::F32);
  test::GuardedTensor db({d.N}, DType::F32);
  const auto as_input = [](const std::vector<float>& values, const Shape& shape) {
    test::GuardedTensor tensor(shape, DType::F32);
    tensor.set_bytes(std::as_bytes(std::span(values)));
    return tensor;
  };
  const test::GuardedTensor x_in = as_input(x, {d.M, d.K});
  const test::GuardedTensor w_in = as_input(w, {d.N, d.K});
  const test::GuardedTensor dy_in = as_input(dy, {d.M, d.N});
  test::HostStream stream;
  linear_backward_input(*stream, dy_in.tensor(), w_in.tensor(), {dx.tensor()});
  linear_backward_weight(*stream, dy_in.tensor(), x_in.tensor(), {dw.tensor()});
  linear_backward_bias(*stream, dy_in.tensor(), {db.tensor()});
  stream->synchronize();

  const std::vector<double> x_at = doubles(x);
  const std::vector<double> w_at = doubles(w);
  const std::vector<double> bias_at(static_cast<std::size_t>(d.N), 0.5);
  EXPECT_TRUE(test::gradient_matches([&](std::span<const double> at) { return loss(at, w_at, bias_at); }, x_at,
                                     test::as_floats(dx.bytes()), 41));
  EXPECT_TRUE(test::gradient_matches([&](std::span<const double> at) { return loss(x_at, at, bias_at); }, w_at,
                                     test::as_floats(dw.bytes()), 42));
  EXPECT_TRUE(test::gradient_matches([&](std::span<const double> at) { return loss(x_at, w_at, at); }, bias_at,
                                     test::as_floats(db.bytes()), 43));
}

TEST(Linear, OnTheSimDevice_ChecksAndComputesNothing) {
  const std::unique_ptr<Device> device = Runtime().open_device(DeviceKind::Sim);
  const std::unique_ptr<Stream> stream = device->make_stream(StreamRole::Compute, "sim");
  std::int64_t next = 4096;  // addresses that nothing may read
  const auto at = [&](const Shape& shape, DType dtype = DType::F32) {
    void* const data = std::bit_cast<void*>(next);
    next += 1 << 20;
    return Tensor(data, shape, dtype);
  };
  const Tensor x = at({8, 3});
  const Tensor w = at({4, 3});
  const Tensor y = at({8, 4});
  linear_forward(*stream, x, w, at({4}), y, Epilogue::Gelu, at({8, 4}));
  linear_backward_input(*stream, y, w, {at({8, 3})});
  linear_backward_weight(*stream, y, x, {at({4, 3}), true});
  linear_backward_bias(*stream, y, {at({4})});
  EXPECT_THROW(linear_forward(*stream, x, w, {}, at({8, 5})), Error);
  stream->synchronize();
}

TEST(Linear, WrongArguments_AreRefusedByName) {
  test::HostStream stream;
  std::vector<float> memory(1000);
  const auto at = [&](std::int64_t offset, const Shape& shape) {
    return Tensor(memory.data() + offset, shape, DType::F32);
  };
  const Tensor x = at(0, {2, 3});
  const Tensor w = at(10, {4, 3});
  const Tensor bias = at(30, {4});
  const Tensor y = at(40, {2, 4});
  const auto refused = [&](const std::vector<std::string>& texts, const std::function<void()>& call) {
    test::expect_error(ErrorCode::InvalidArgument, texts, call);
  };
  refused({"[linear_forward]", "w", "(4, 5)", "(4, 3)"}, [&] { linear_forward(*stream, x, at(100, {4, 5}), bias, y); });
  refused({"bias", "(3)", "(4)"}, [&] { linear_forward(*stream, x, w, at(30, {3}), y); });
  refused({"y", "none"}, [&] { linear_forward(*stream, x, w, bias, {}); });
  refused({"pre", "Gelu"}, [&] { linear_forward(*stream, x, w, bias, y, Epilogue::Relu, at(60, {2, 4})); });
  refused({"overlap"}, [&] { linear_forward(*stream, x, w, bias, at(1, {2, 4})); });
  refused({"x", "i32"}, [&] { linear_forward(*stream, Tensor(memory.data(), {2, 3}, DType::I32), w, bias, y); });
  refused({"[linear_backward_input]", "dx"}, [&] { linear_backward_input(*stream, y, w, {at(100, {3, 2})}); });
  refused({"[linear_backward_weight]", "x"}, [&] {
    linear_backward_weight(*stream, y, at(0, {3, 3}), {at(100, {4, 3})});
  });
  refused({"[linear_backward_bias]", "db"}, [&] { linear_backward_bias(*stream, y, {at(100, {5})}); });
}

}  // namespace
}  // namespace shoal::kernels
