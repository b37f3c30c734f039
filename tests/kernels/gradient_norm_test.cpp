#include "shoal/kernels/gradient_norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "shoal/kernels/step_block.h"
#include "shoal/runtime/base/exact_sum.h"
#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::kernels {
namespace {

using test::OpCase;
using Bytes = std::vector<std::byte>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Bytes zero_words() { return Bytes(sizeof(std::int64_t) * ExactSum::kWords); }

ExactSum sum_of(const Bytes& words) {
  ExactSum sum;
  std::memcpy(sum.words(), words.data(), words.size());
  return sum;
}

OpCase add_case(const std::vector<float>& data, const Bytes& words) {
  OpCase op{.name = "add_sum_squares " + std::to_string(data.size()), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("data", {static_cast<std::int64_t>(data.size())}, data)};
  op.outputs = {{.name = "words", .shape = {ExactSum::kWords}, .dtype = DType::I64, .initial = words}};
  op.call = [](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    add_sum_squares(stream, in[0], out[0]);
  };
  op.offset_step = data.size() > 1000 ? 13 : 1;
  return op;
}

Bytes words_of(const std::vector<float>& data, const Bytes& words = zero_words()) {
  return test::run_op_once(add_case(data, words))[0];
}

/// What the contract says, plainly: lanes of a group, lanes by halves, groups exactly.
double plain_sum_squares(const std::vector<float>& data) {
  ExactSum total;
  for (std::size_t begin = 0; begin < data.size(); begin += 64) {
    double lane[8] = {};
    for (std::size_t i = begin; i < std::min(begin + 64, data.size()); ++i) {
      lane[(i - begin) % 8] += static_cast<double>(data[i]) * static_cast<double>(data[i]);
    }
    total.add(((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7])));
  }
  return total.value();
}

TEST(GradientNorm, SumOfSquaresFollowsTheContract) {
  for (const std::int64_t numel : {0, 1, 63, 64, 65, 4095, 4097, 70001}) {
    const auto data = test::normal_values(numel, 1);
    const Bytes words = test::check_op(add_case(data, zero_words()))[0];
    EXPECT_EQ(sum_of(words).value(), plain_sum_squares(data)) << numel;
  }
}

TEST(GradientNorm, AnySplitAtMultiplesOf64GivesTheSameSum) {
  const auto data = test::normal_values(64 * 40 + 17, 2, 0, 1e-3);
  const double whole = sum_of(words_of(data)).value();
  for (const std::int64_t cut : {64, 640, 64 * 39}) {
    const std::vector<float> front(data.begin(), data.begin() + cut);
    const std::vector<float> back(data.begin() + cut, data.end());
    EXPECT_EQ(sum_of(words_of(back, words_of(front))).value(), whole) << cut;
    // As ranks do: each its own words, added as integers.
    ExactSum ranks = sum_of(words_of(back));
    ranks.add(sum_of(words_of(front)));
    EXPECT_EQ(ranks.value(), whole) << cut;
  }
}

TEST(GradientNorm, AdversarialMagnitudesKeepEveryBit) {
  // A double sum loses the small squares beside the large one; with the large one taken out again they are all there.
  std::vector<float> data(64 * 100, 0x1p-60f);
  data[0] = 0x1p60f;
  ExactSum sum = sum_of(words_of(data));
  std::vector<float> large(64, 0.0f);
  large[0] = 0x1p60f;
  // The first group's small squares are lost in its own double sum, the others' are exact.
  sum.add(-sum_of(words_of(large)).value());
  EXPECT_EQ(sum.value(), 64 * 99 * 0x1p-120);
}

struct Finish {
  std::vector<float> gradient;
  double seed = 1;
  double count = 1;
  double max_norm = kInfinity;
};

StepBlock finished(const Finish& f) {
  StepBlock block{};
  block.seed = f.seed;
  block.count = f.count;
  block.max_norm = f.max_norm;
  block.lr = 0.5;
  block.step = 3;
  const Bytes words = words_of(f.gradient);
  OpCase op{.name = "finish_gradient_norm", .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("words", {ExactSum::kWords}, DType::I64, words)};
  op.outputs = {{.name = "block",
                 .shape = {sizeof(StepBlock)},
                 .dtype = DType::U8,
                 .initial = test::bytes_of(block),
                 .read_as = DType::F64}};
  op.call = [](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    finish_gradient_norm(stream, in[0], out[0]);
  };
  const StepBlock after = test::as_step_block(test::check_op(op)[0]);
  EXPECT_EQ(after.seed, f.seed);
  EXPECT_EQ(after.lr, 0.5);
  EXPECT_EQ(after.step, 3);
  return after;
}

TEST(GradientNorm, FinishComputesNormAndClipFactor) {
  const StepBlock unclipped = finished({.gradient = {3, 4}, .seed = 0.5, .count = 5});
  EXPECT_EQ(unclipped.grad_norm, 5 / 2.5);
  EXPECT_EQ(unclipped.clip_factor, 1);
  EXPECT_EQ(unclipped.is_skipped, 0);
  EXPECT_EQ(finished({.gradient = {3, 4}, .max_norm = 1}).clip_factor, 1.0 / 5);
  EXPECT_EQ(finished({.gradient = {3, 4}, .max_norm = 5}).clip_factor, 1);
  EXPECT_EQ(finished({.gradient = {3, 4}, .max_norm = 50}).clip_factor, 1);
}

TEST(GradientNorm, NoGradientIsNotClipped) {
  const StepBlock block = finished({.gradient = {0, 0, 0}, .max_norm = 1});
  EXPECT_EQ(block.grad_norm, 0);
  EXPECT_EQ(block.clip_factor, 1);
  EXPECT_EQ(block.is_skipped, 0);
}

TEST(GradientNorm, NotFiniteOrNothingCounted_SkipsTheStep) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(finished({.gradient = {1, nan}}).is_skipped, 1);
  EXPECT_EQ(finished({.gradient = {1, infinity}}).is_skipped, 1);
  EXPECT_EQ(finished({.gradient = {1, -infinity}, .max_norm = 1}).is_skipped, 1);
  EXPECT_EQ(finished({.gradient = {1, 2}, .count = 0}).is_skipped, 1);
  EXPECT_EQ(finished({.gradient = {0, 0}, .count = 0}).is_skipped, 1);
  EXPECT_EQ(finished({.gradient = {3e38f, 3e38f}}).is_skipped, 0);
}

TEST(GradientNorm, WrongArguments_AreNamed) {
  const test::HostStream stream;
  const test::GuardedTensor data({8}, DType::F32);
  const test::GuardedTensor words({ExactSum::kWords - 1}, DType::I64);
  test::expect_error(ErrorCode::InvalidArgument,
                     {"[add_sum_squares]", "words has shape", std::to_string(ExactSum::kWords)},
                     [&] { add_sum_squares(*stream, data.tensor(), words.tensor()); });
  test::expect_error(ErrorCode::InvalidArgument, {"data is i64"},
                     [&] { add_sum_squares(*stream, words.tensor(), words.tensor()); });
}

}  // namespace
}  // namespace shoal::kernels
