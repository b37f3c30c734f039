#include "shoal/kernels/moving_average.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::kernels {
namespace {

using test::OpCase;

OpCase average_case(std::int64_t numel, int num_ranks, float momentum) {
  OpCase op{.name = "update_moving_average " + std::to_string(numel), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("staged_sum", {numel}, test::normal_values(numel, 1))};
  op.outputs = {test::accumulated({.name = "running", .shape = {numel}, .tolerance = test::kElementwiseCancelling},
                                  test::normal_values(numel, 2))};
  op.call = [=](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    update_moving_average(stream, in[0], num_ranks, momentum, out[0]);
  };
  op.reference = [=](const OpCase::Doubles& in, const OpCase::Doubles& initial) {
    std::vector<double> running = initial[0];
    for (std::size_t i = 0; i < running.size(); ++i) {
      running[i] += static_cast<double>(momentum) * (in[0][i] / num_ranks - running[i]);
    }
    return OpCase::Doubles{running};
  };
  return op;
}

TEST(MovingAverage, EqualsReference) {
  for (const std::int64_t numel : {0, 1, 17, 512}) {
    for (const int num_ranks : {1, 2, 3}) test::check_op(average_case(numel, num_ranks, 0.1f));
  }
}

TEST(MovingAverage, MomentumOfOneTakesTheMean) {
  OpCase op = average_case(2, 2, 1.0f);
  op.inputs = {test::operand("staged_sum", {2}, std::vector<float>{6, -3})};
  op.outputs = {test::accumulated({.name = "running", .shape = {2}}, std::vector<float>{1, 2})};
  EXPECT_EQ(test::as_floats(test::run_op_once(op)[0]), (std::vector<float>{3, -1.5f}));
}

TEST(MovingAverage, WrongArguments_AreNamed) {
  const test::HostStream stream;
  const test::GuardedTensor running({4}, DType::F32);
  const test::GuardedTensor staged({5}, DType::F32);
  test::expect_error(ErrorCode::InvalidArgument, {"[update_moving_average]", "staged_sum has shape (5)", "4"},
                     [&] { update_moving_average(*stream, staged.tensor(), 1, 0.1f, running.tensor()); });
  test::expect_error(ErrorCode::InvalidArgument, {"num_ranks is 0"}, [&] {
    update_moving_average(*stream, staged.tensor().flat_slice(0, 4), 0, 0.1f, running.tensor());
  });
}

}  // namespace
}  // namespace shoal::kernels
