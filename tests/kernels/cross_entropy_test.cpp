#include "shoal/kernels/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "shoal/kernels/step_block.h"
#include "shoal/tests/support/compare.h"
#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/grad_check.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"
#include "shoal/tests/support/reference/cross_entropy.h"

namespace shoal::kernels {
namespace {

namespace reference = test::reference;
using test::OpCase;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kSeed = 0.125;

StepBlock started_block() {
  StepBlock block{};
  block.loss_sum = 2.5;
  block.count = 3;
  block.correct = 1;
  block.seed = kSeed;
  return block;
}

struct Dims {
  std::int64_t R;
  std::int64_t V;
  std::string to_string() const { return std::to_string(R) + "x" + std::to_string(V); }
};
const std::vector<Dims> kDims = {{0, 10}, {1, 1}, {3, 2}, {5, 10}, {4, 16}, {3, 17}, {2, 511}, {3, 1025}, {301, 130}};

/// Outputs: dlogits, row_loss, row_correct, block; without a gradient dlogits is left out of the call.
OpCase cross_entropy_case(const Dims& d, const std::vector<float>& logits, const std::vector<std::int32_t>& targets,
                          bool has_gradient) {
  OpCase op{.name = "cross_entropy " + d.to_string(), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("logits", {d.R, d.V}, logits), test::operand("targets", {d.R}, targets)};
  op.outputs = {
      {.name = "row_loss", .shape = {d.R}, .dtype = DType::F64, .tolerance = test::kDoubleSum, .expect_zeros = true},
      {.name = "row_correct", .shape = {d.R}, .dtype = DType::U8, .tolerance = test::kExact},
      {.name = "block",
       .shape = {static_cast<std::int64_t>(sizeof(StepBlock))},
       .dtype = DType::U8,
       .initial = test::bytes_of(started_block()),
       .read_as = DType::F64}};
  if (has_gradient) {
    op.outputs.push_back({.name = "dlogits",
                          .shape = {d.R, d.V},
                          .tolerance = test::kElementwiseCancelling,
                          .may_alias = 0,
                          .expect_zeros = true});
  }
  op.call = [has_gradient](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    cross_entropy(stream, {.logits = in[0],
                           .targets = in[1],
                           .dlogits = has_gradient ? out[3] : Tensor{},
                           .row_loss = out[0],
                           .row_correct = out[1],
                           .block = out[2]});
  };
  op.reference = [d, has_gradient](const OpCase::Doubles& in, const OpCase::Doubles&) {
    const auto want = reference::cross_entropy(in[0], in[1], static_cast<std::size_t>(d.V), kSeed);
    OpCase::Doubles all = {want.row_loss, want.row_correct, {}};
    if (has_gradient) all.push_back(want.dlogits);
    return all;
  };
  op.offset_step = d.R * d.V > 1000 ? 9 : 1;
  return op;
}

/// A third of the rows ignored.
std::vector<std::int32_t> targets_for(const Dims& d, std::uint64_t seed) {
  std::vector<std::int32_t> targets = test::index_values(d.R, seed, static_cast<std::int32_t>(d.V));
  for (std::size_t row = 0; row < targets.size(); ++row) {
    if (row % 3 == 1) targets[row] = row % 2 == 0 ? -1 : -100;
  }
  return targets;
}

TEST(CrossEntropy, EqualsReference) {
  for (const Dims& d : kDims) {
    for (const double deviation : {0.01, 1.0, 30.0}) {
      for (const bool has_gradient : {true, false}) {
        const auto logits = test::normal_values(d.R * d.V, 1, 0, deviation);
        const auto targets = targets_for(d, 2);
        const auto results = test::check_op(cross_entropy_case(d, logits, targets, has_gradient));
        const auto want = reference::cross_entropy({logits.begin(), logits.end()}, {targets.begin(), targets.end()},
                                                   static_cast<std::size_t>(d.V), kSeed);
        const StepBlock block = test::as_step_block(results[2]);
        const StepBlock before = started_block();
        const std::vector<double> got = {block.loss_sum - before.loss_sum};
        EXPECT_TRUE(test::is_within(got, std::vector<double>{want.loss_sum}, DType::F64, test::kDoubleSum, true));
        EXPECT_EQ(block.count, before.count + want.count);
        EXPECT_EQ(block.correct, before.correct + want.correct);
        EXPECT_EQ(block.seed, kSeed);
      }
    }
  }
}

TEST(CrossEntropy, LossIsTheRowsInRowOrder) {
  const Dims d{50, 7};
  const auto targets = targets_for(d, 3);
  const auto results = test::run_op_once(cross_entropy_case(d, test::normal_values(350, 4), targets, false));
  const std::vector<double> row_loss = test::to_doubles(results[0], DType::F64);
  double sum = 0;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    if (targets[row] >= 0)
      sum += row_loss[row];
    else
      EXPECT_EQ(row_loss[row], 0.0);
  }
  EXPECT_EQ(test::as_step_block(results[2]).loss_sum, started_block().loss_sum + sum);
}

TEST(CrossEntropy, FirstLargestLogitDecides) {
  const std::vector<float> logits = {1, 3, 3, 2, /**/ 1, 3, 3, 2, /**/ -0.0f, 0.0f, -1, -1, /**/ 0.0f, -0.0f, -1, -1};
  const auto correct = test::run_op_once(cross_entropy_case({4, 4}, logits, {1, 2, 1, 0}, false))[1];
  EXPECT_EQ(test::to_doubles(correct, DType::U8), (std::vector<double>{1, 0, 0, 1}));
}

TEST(CrossEntropy, ExtremeLogitsStayFinite) {
  // Row 0: a sure win; row 1: a sure loss; row 2: all equal and huge; row 3: most classes masked by -infinity.
  const std::vector<float> logits = {1e4f,       -1e4f, 0,     /**/ 1e4f,  -1e4f, 0,
                                     /**/ 3e38f, 3e38f, 3e38f, /**/ -kInf, 2,     -kInf};
  const auto results = test::check_op(cross_entropy_case({4, 3}, logits, {0, 1, 2, 1}, true));
  const auto row_loss = test::to_doubles(results[0], DType::F64);
  EXPECT_EQ(row_loss[0], 0.0);
  EXPECT_EQ(row_loss[1], 2e4);
  EXPECT_NEAR(row_loss[2], std::log(3.0), test::kDoubleLogarithm);
  EXPECT_EQ(row_loss[3], 0.0);
}

TEST(CrossEntropy, MaskedTargetLosesInfinitely) {
  const auto results = test::run_op_once(cross_entropy_case({1, 3}, {-kInf, 1, 2}, {0}, true));
  EXPECT_EQ(test::to_doubles(results[0], DType::F64)[0], static_cast<double>(kInf));
}

TEST(CrossEntropy, NanStaysInItsRow) {
  for (const std::size_t place : {0, 5, 18}) {
    std::vector<float> logits = test::normal_values(3 * 19, 5);
    logits[19 + place] = kNan;
    const auto results = test::run_op_once(cross_entropy_case({3, 19}, logits, {2, 3, 4}, true));
    const auto row_loss = test::to_doubles(results[0], DType::F64);
    const auto dlogits = test::as_floats(results[3]);
    EXPECT_TRUE(std::isnan(row_loss[1]));
    EXPECT_FALSE(std::isnan(row_loss[0]) || std::isnan(row_loss[2]));
    EXPECT_EQ(test::to_doubles(results[1], DType::U8)[1], 0.0);
    for (std::size_t i = 0; i < dlogits.size(); ++i) EXPECT_EQ(std::isnan(dlogits[i]), i / 19 == 1) << i;
    EXPECT_TRUE(std::isnan(test::as_step_block(results[2]).loss_sum));
  }
}

TEST(CrossEntropy, GradientMatchesDifferences) {
  const Dims d{5, 13};
  const auto logits = test::normal_values(d.R * d.V, 6, 0, 2);
  const auto targets = targets_for(d, 7);
  const auto results = test::run_op_once(cross_entropy_case(d, logits, targets, true));
  const auto loss = [&](std::span<const double> at) {
    return kSeed * reference::cross_entropy({at.begin(), at.end()}, {targets.begin(), targets.end()},
                                            static_cast<std::size_t>(d.V), kSeed)
                       .loss_sum;
  };
  EXPECT_TRUE(
      test::gradient_matches(loss, std::vector<double>(logits.begin(), logits.end()), test::as_floats(results[3]), 8));
}

TEST(CrossEntropy, TargetBeyondClasses_NamesRowValueAndClasses) {
  test::expect_error(ErrorCode::InvalidArgument, {"[cross_entropy]", "row 2", "is 10", "V is 10"}, [] {
    test::run_op_once(cross_entropy_case({4, 10}, test::normal_values(40, 1), {1, -1, 10, 0}, true));
  });
}

TEST(CrossEntropy, WrongArguments_AreNamed) {
  const test::HostStream stream;
  const test::GuardedTensor logits({3, 4}, DType::F32);
  const test::GuardedTensor targets({3}, DType::I32);
  const test::GuardedTensor row_loss({3}, DType::F64);
  const test::GuardedTensor row_correct({3}, DType::U8);
  const test::GuardedTensor block({sizeof(StepBlock)}, DType::U8);
  const CrossEntropy good{.logits = logits.tensor(),
                          .targets = targets.tensor(),
                          .dlogits = {},
                          .row_loss = row_loss.tensor(),
                          .row_correct = row_correct.tensor(),
                          .block = block.tensor()};
  CrossEntropy t = good;
  t.targets = row_loss.tensor();
  test::expect_error(ErrorCode::InvalidArgument, {"targets is fp64", "i32"}, [&] { cross_entropy(*stream, t); });
  t = good;
  t.block = row_correct.tensor();
  test::expect_error(ErrorCode::InvalidArgument, {"block has shape (3)", "80"}, [&] { cross_entropy(*stream, t); });
  t = good;
  t.dlogits = targets.tensor();
  test::expect_error(ErrorCode::InvalidArgument, {"dlogits is i32"}, [&] { cross_entropy(*stream, t); });
}

}  // namespace
}  // namespace shoal::kernels
