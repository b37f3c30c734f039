#include "shoal/kernels/cast.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "shoal/tests/support/compare.h"
#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::kernels {
namespace {

using test::OpCase;
using Bytes = std::vector<std::byte>;

constexpr std::int64_t kPatterns = 65536;

template <typename T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <typename T>
std::vector<T> values_of(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

OpCase cast_case(DType from, const Bytes& src, DType to) {
  const std::int64_t numel = static_cast<std::int64_t>(src.size()) / dtype_bytes(from);
  OpCase op{.name = "cast " + std::string(dtype_name(from)) + " to " + std::string(dtype_name(to)),
            .inputs = {},
            .outputs = {},
            .call = {}};
  op.inputs = {test::operand("src", {numel}, from, src)};
  op.outputs = {{.name = "dst", .shape = {numel}, .dtype = to}};
  op.call = [](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    cast(stream, in[0], out[0]);
  };
  op.offset_step = numel > 1000 ? 31 : 1;
  return op;
}

Bytes casted(DType from, const Bytes& src, DType to) { return test::run_op_once(cast_case(from, src, to))[0]; }

/// All bit patterns of a 16-bit type.
Bytes all_patterns() {
  std::vector<std::uint16_t> patterns;
  for (std::int64_t bits = 0; bits < kPatterns; ++bits) patterns.push_back(static_cast<std::uint16_t>(bits));
  return bytes_of(patterns);
}

/// The 16-bit value nearest to `value` and even on ties, found by bisection over the ordered positive patterns.
class NearestHalf {
 public:
  explicit NearestHalf(DType dtype) : values_(test::to_doubles(all_patterns(), dtype)) {
    infinity_ = dtype == DType::BF16 ? 0x7f80 : 0x7c00;
    // Beyond the largest value infinity stands for the next value of the same spacing.
    above_largest_ = 2 * values_[infinity_ - 1] - values_[infinity_ - 2];
  }

  std::uint16_t of(double value) const {
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    const double magnitude = std::abs(value);
    std::size_t low = 0;
    std::size_t high = infinity_;
    while (high - low > 1) {
      const std::size_t middle = (low + high) / 2;
      (values_[middle] <= magnitude ? low : high) = middle;
    }
    const double above = high == infinity_ ? above_largest_ : values_[high];
    const double to_low = magnitude - values_[low];
    const double to_high = above - magnitude;
    const bool takes_high = to_high < to_low || (to_high == to_low && high % 2 == 0);
    return static_cast<std::uint16_t>(sign | (takes_high ? high : low));
  }

 private:
  std::vector<double> values_;
  std::size_t infinity_;
  double above_largest_;
};

TEST(Cast, EveryHalfPatternWidensExactly) {
  for (const DType from : {DType::BF16, DType::F16}) {
    const auto got = values_of<float>(casted(from, all_patterns(), DType::F32));
    const std::vector<double> want = test::to_doubles(all_patterns(), from);
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (std::isnan(want[i])) {
        ASSERT_TRUE(std::isnan(got[i])) << i;
      } else {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(got[i]), std::bit_cast<std::uint32_t>(static_cast<float>(want[i]))) << i;
      }
    }
  }
}

TEST(Cast, EveryHalfPatternSurvivesTheRoundTrip) {
  for (const DType half : {DType::BF16, DType::F16}) {
    const auto back = values_of<std::uint16_t>(casted(DType::F32, casted(half, all_patterns(), DType::F32), half));
    const std::vector<double> value = test::to_doubles(all_patterns(), half);
    const std::vector<double> again = test::to_doubles(bytes_of(back), half);
    for (std::size_t i = 0; i < back.size(); ++i) {
      ASSERT_TRUE(std::isnan(value[i]) ? std::isnan(again[i]) : back[i] == i) << dtype_name(half) << " " << i;
    }
  }
}

TEST(Cast, BetweenAllNeighboursRoundsToNearestEven) {
  for (const DType half : {DType::BF16, DType::F16}) {
    const NearestHalf nearest(half);
    const std::vector<double> value = test::to_doubles(all_patterns(), half);
    std::vector<float> inputs;
    for (std::size_t i = 0; i + 1 < value.size(); ++i) {
      if (!std::isfinite(value[i])) continue;
      // Every value, the tie towards the next larger magnitude and the fp32 numbers beside that tie.
      const double next = std::isfinite(value[i + 1]) ? value[i + 1] : 2 * value[i] - value[i - 1];
      const auto tie = static_cast<float>((value[i] + next) / 2);
      for (const float input : {static_cast<float>(value[i]), std::nextafter(tie, 0.0f), tie,
                                std::nextafter(tie, std::copysign(INFINITY, tie))}) {
        inputs.push_back(input);
      }
    }
    const auto got = values_of<std::uint16_t>(casted(DType::F32, bytes_of(inputs), half));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      ASSERT_EQ(got[i], nearest.of(static_cast<double>(inputs[i]))) << dtype_name(half) << " of " << inputs[i];
    }
  }
}

TEST(Cast, OverflowGivesInfinityAndUnderflowZero) {
  const std::vector<float> large = {65519.0f, 65520.0f, -65520.0f, 1e30f, INFINITY, 0x1p-25f, 0x1.8p-25f, -0x1p-26f};
  EXPECT_EQ(values_of<std::uint16_t>(casted(DType::F32, bytes_of(large), DType::F16)),
            (std::vector<std::uint16_t>{0x7bff, 0x7c00, 0xfc00, 0x7c00, 0x7c00, 0x0000, 0x0001, 0x8000}));
  const std::vector<float> huge = {std::numeric_limits<float>::max(), -INFINITY, 0x1p-149f};
  EXPECT_EQ(values_of<std::uint16_t>(casted(DType::F32, bytes_of(huge), DType::BF16)),
            (std::vector<std::uint16_t>{0x7f80, 0xff80, 0x0000}));
}

TEST(Cast, NanStaysNanWhateverItsBits) {
  std::vector<float> nans;
  for (const std::uint32_t payload : {0x1u, 0x7fffu, 0x10000u, 0x3fffffu, 0x400000u, 0x7fffffu}) {
    nans.push_back(std::bit_cast<float>(0x7f800000u | payload));
    nans.push_back(std::bit_cast<float>(0xff800000u | payload));
  }
  for (const DType half : {DType::BF16, DType::F16}) {
    const Bytes narrow = casted(DType::F32, bytes_of(nans), half);
    for (const double value : test::to_doubles(narrow, half)) EXPECT_TRUE(std::isnan(value));
    const DType other = half == DType::BF16 ? DType::F16 : DType::BF16;
    for (const double value : test::to_doubles(casted(half, narrow, other), other)) EXPECT_TRUE(std::isnan(value));
  }
}

TEST(Cast, BetweenHalvesGoesThroughFp32) {
  for (const DType from : {DType::BF16, DType::F16}) {
    const DType to = from == DType::BF16 ? DType::F16 : DType::BF16;
    EXPECT_EQ(casted(from, all_patterns(), to), casted(DType::F32, casted(from, all_patterns(), DType::F32), to));
  }
}

TEST(Cast, SameTypeCopies) {
  EXPECT_EQ(casted(DType::BF16, all_patterns(), DType::BF16), all_patterns());
  const Bytes floats = bytes_of(test::adversarial_values(100, 1));
  EXPECT_EQ(casted(DType::F32, floats, DType::F32), floats);
}

TEST(Cast, EveryPairRepeatsAtAllSizesAndOffsets) {
  const std::vector<DType> types = {DType::F32, DType::BF16, DType::F16};
  for (const std::int64_t numel : {0, 1, 15, 16, 17, 33, 33003}) {
    const Bytes floats = bytes_of(test::normal_values(numel, 2));
    for (const DType from : types) {
      for (const DType to : types) test::check_op(cast_case(from, casted(DType::F32, floats, from), to));
    }
  }
}

TEST(Cast, WrongArguments_AreNamed) {
  const test::HostStream stream;
  const test::GuardedTensor src({4}, DType::F32);
  const test::GuardedTensor dst({5}, DType::BF16);
  const test::GuardedTensor bytes({4}, DType::U8);
  test::expect_error(ErrorCode::InvalidArgument, {"[cast]", "dst has shape (5)", "4"},
                     [&] { cast(*stream, src.tensor(), dst.tensor()); });
  test::expect_error(ErrorCode::InvalidArgument, {"dst is u8"}, [&] { cast(*stream, src.tensor(), bytes.tensor()); });
  const Tensor inside(src.tensor().data(), {4}, DType::BF16);
  test::expect_error(ErrorCode::InvalidArgument, {"dst and src overlap"}, [&] { cast(*stream, src.tensor(), inside); });
}

}  // namespace
}  // namespace shoal::kernels
