#include "shoal/kernels/fill.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "shoal/runtime/base/counter_rng.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::kernels {
namespace {

using test::OpCase;

constexpr std::int64_t kManyElements = 40003;

OpCase random_case(const RandomFill& fill, std::int64_t numel) {
  OpCase op{.name = "fill_random " + std::to_string(numel), .inputs = {}, .outputs = {}, .call = {}};
  op.outputs = {{.name = "dst", .shape = {numel}, .tolerance = test::kExact}};
  op.call = [fill](Stream& stream, std::span<const Tensor>, std::span<const Tensor> out) {
    fill_random(stream, fill, out[0]);
  };
  op.offset_step = numel > 1000 ? 31 : 7;
  return op;
}

std::vector<float> drawn(const RandomFill& fill, std::int64_t numel) {
  return test::as_floats(test::run_op_once(random_case(fill, numel))[0]);
}

TEST(Fill, WritesTheValue) {
  for (const std::int64_t numel : {0, 1, 17, 40003}) {
    OpCase op{.name = "fill", .inputs = {}, .outputs = {}, .call = {}};
    op.outputs = {{.name = "dst", .shape = {numel}, .tolerance = test::kExact}};
    op.call = [](Stream& stream, std::span<const Tensor>, std::span<const Tensor> out) { fill(stream, out[0], -2.5f); };
    op.reference = [numel](const OpCase::Doubles&, const OpCase::Doubles&) {
      return OpCase::Doubles{std::vector<double>(static_cast<std::size_t>(numel), -2.5)};
    };
    op.offset_step = numel > 1000 ? 13 : 1;
    test::check_op(op);
  }
}

TEST(FillRandom, EveryKindFollowsTheCounterGenerator) {
  using Kind = RandomFill::Kind;
  for (const Kind kind : {Kind::Constant, Kind::Uniform, Kind::Normal}) {
    for (const std::int64_t numel : {std::int64_t{0}, std::int64_t{1}, std::int64_t{33}, kManyElements}) {
      const RandomFill fill{.kind = kind, .scale = 0.25f, .seed = 5, .sequence = 9, .first_index = 100};
      OpCase op = random_case(fill, numel);
      op.reference = [&](const OpCase::Doubles&, const OpCase::Doubles&) {
        std::vector<double> want;
        for (std::int64_t i = 0; i < numel; ++i) {
          const auto index = static_cast<std::uint64_t>(100 + i);
          const float uniform = 0.25f * (2 * counter_uniform(5, 9, index) - 1);
          const float normal = 0.25f * counter_normal(5, 9, index);
          want.push_back(static_cast<double>(kind == Kind::Constant  ? 0.25f
                                             : kind == Kind::Uniform ? uniform
                                                                     : normal));
        }
        return OpCase::Doubles{want};
      };
      test::check_op(op);
    }
  }
}

TEST(FillRandom, SplitsGiveTheSameValues) {
  RandomFill fill{.kind = RandomFill::Kind::Normal, .scale = 1, .seed = 1, .sequence = 2, .first_index = 0};
  const std::vector<float> whole = drawn(fill, 1000);
  for (const std::int64_t cut : {1, 64, 333, 999}) {
    fill.first_index = cut;
    const std::vector<float> rest = drawn(fill, 1000 - cut);
    EXPECT_EQ(rest, std::vector<float>(whole.begin() + cut, whole.end())) << cut;
  }
}

TEST(FillRandom, SeedSequenceAndIndexAllMatter) {
  const RandomFill base{.kind = RandomFill::Kind::Uniform, .scale = 1, .seed = 1, .sequence = 2, .first_index = 0};
  RandomFill other_seed = base;
  other_seed.seed = 2;
  RandomFill other_sequence = base;
  other_sequence.sequence = 3;
  RandomFill other_index = base;
  other_index.first_index = 1;
  for (const RandomFill& other : {other_seed, other_sequence, other_index})
    EXPECT_NE(drawn(base, 50), drawn(other, 50));
}

TEST(FillRandom, MomentsAreThoseOfTheDistribution) {
  using Kind = RandomFill::Kind;
  for (const Kind kind : {Kind::Uniform, Kind::Normal}) {
    const auto values = drawn({.kind = kind, .scale = 2, .seed = 3, .sequence = 4, .first_index = 0}, kManyElements);
    double sum = 0;
    double squares = 0;
    for (const float value : values) {
      ASSERT_TRUE(kind == Kind::Normal || (value >= -2 && value < 2)) << value;
      sum += static_cast<double>(value);
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    constexpr double kVariance = 4;  // at most; that of the squares at most:
    constexpr double kVarianceOfSquares = 32;
    const auto count = static_cast<double>(kManyElements);
    const double variance = kind == Kind::Uniform ? 4.0 / 3 : 4.0;
    EXPECT_NEAR(sum / count, 0, test::five_standard_errors(kVariance, count));
    EXPECT_NEAR(squares / count, variance, test::five_standard_errors(kVarianceOfSquares, count));
  }
}

TEST(FillRandom, WrongArguments_AreNamed) {
  const test::HostStream stream;
  const test::GuardedTensor dst({8}, DType::F32);
  const test::GuardedTensor bytes({8}, DType::U8);
  test::expect_error(ErrorCode::InvalidArgument, {"[fill_random]", "first_index is -1"},
                     [&] { fill_random(*stream, {.first_index = -1}, dst.tensor()); });
  test::expect_error(ErrorCode::InvalidArgument, {"[fill]", "dst is u8"}, [&] { fill(*stream, bytes.tensor(), 1); });
}

}  // namespace
}  // namespace shoal::kernels
