#include "shoal/kernels/add.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::kernels {
namespace {

using test::OpCase;

OpCase add_case(const std::vector<float>& a, const std::vector<float>& b, bool relu, int alias) {
  const auto numel = static_cast<std::int64_t>(a.size());
  OpCase op{.name = "add " + std::to_string(numel), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("a", {numel}, a), test::operand("b", {numel}, b)};
  // One rounded addition is exactly the double sum rounded to fp32.
  op.outputs = {{.name = "y", .shape = {numel}, .tolerance = test::kExact, .may_alias = alias}};
  op.call = [relu](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    add(stream, in[0], in[1], out[0], relu);
  };
  op.reference = [relu](const OpCase::Doubles& in, const OpCase::Doubles&) {
    std::vector<double> y;
    for (std::size_t i = 0; i < in[0].size(); ++i) {
      const double sum = in[0][i] + in[1][i];
      y.push_back(relu && sum <= 0 ? 0 : sum);
    }
    return OpCase::Doubles{y};
  };
  op.offset_step = numel > 10000 ? 13 : 1;
  return op;
}

TEST(Add, EqualsReferenceExactly) {
  for (const std::int64_t numel : {0, 1, 7, 15, 16, 17, 1009, 33001}) {
    for (const bool relu : {false, true}) {
      for (const int alias : {0, 1}) {
        test::check_op(add_case(test::normal_values(numel, 1), test::normal_values(numel, 2), relu, alias));
      }
    }
  }
}

TEST(Add, AdversarialInputs) {
  const auto a = test::adversarial_values(500, 3);
  const auto b = test::adversarial_values(500, 4);
  test::check_op(add_case(a, b, false, 0));
  test::check_op(add_case(a, b, true, 0));
}

TEST(Add, NanPropagatesThroughRelu) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto y = test::as_floats(test::run_op_once(add_case({nan, 1, -2}, {1, nan, 1}, true, 0))[0]);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_EQ(y[2], 0.0f);
}

TEST(Add, WrongArguments_AreNamed) {
  const test::HostStream stream;
  const test::GuardedTensor a({8}, DType::F32);
  const test::GuardedTensor b({9}, DType::F32);
  test::expect_error(ErrorCode::InvalidArgument, {"[add]", "b has shape (9)", "9 elements", "8"},
                     [&] { add(*stream, a.tensor(), b.tensor(), a.tensor()); });
  const Tensor y = b.tensor().flat_slice(1, 8);
  test::expect_error(ErrorCode::InvalidArgument, {"y and b overlap"},
                     [&] { add(*stream, a.tensor(), b.tensor().flat_slice(0, 8), y); });
}

}  // namespace
}  // namespace shoal::kernels
