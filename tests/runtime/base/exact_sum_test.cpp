#include "shoal/runtime/base/exact_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace shoal {
namespace {

constexpr double kMax = std::numeric_limits<double>::max();
constexpr double kTiny = std::numeric_limits<double>::denorm_min();

ExactSum sum_of(const std::vector<double>& values) {
  ExactSum sum;
  for (const double value : values) sum.add(value);
  return sum;
}

std::vector<double> adversarial(std::size_t count) {
  std::mt19937_64 random(5);
  std::uniform_int_distribution<int> exponent(-1074, 1000);
  std::uniform_real_distribution<double> mantissa(-1.0, 1.0);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(std::ldexp(mantissa(random), exponent(random)));
  return values;
}

TEST(ExactSum, SingleValues_ComeBackUnchanged) {
  for (const double value :
       {0.0, 1.0, -1.0, 0.1, -3.7e-300, kMax, -kMax, kTiny, -kTiny, 2.2250738585072014e-308, 1e308}) {
    EXPECT_EQ(sum_of({value}).value(), value);
  }
  for (const double value : adversarial(500)) EXPECT_EQ(sum_of({value}).value(), value);
}

TEST(ExactSum, Cancellation_LeavesExactlyTheRest) {
  EXPECT_EQ(sum_of({1e300, 1.0, -1e300}).value(), 1.0);
  EXPECT_EQ(sum_of({kMax, kTiny, -kMax}).value(), kTiny);
  EXPECT_EQ(sum_of({kMax, kMax, -kMax}).value(), kMax);
  EXPECT_EQ(sum_of({-0.5, 0.25, 0.25}).value(), 0.0);
}

TEST(ExactSum, RoundsOnceToNearestEven) {
  const double ulp = 0x1p-52;
  EXPECT_EQ(sum_of({1.0, ulp / 2}).value(), 1.0);                   // a tie, to even
  EXPECT_EQ(sum_of({1.0 + ulp, ulp / 2}).value(), 1.0 + 2 * ulp);   // a tie, to even upwards
  EXPECT_EQ(sum_of({1.0, ulp / 2, kTiny}).value(), 1.0 + ulp);      // just above the tie
  EXPECT_EQ(sum_of({1.0, ulp / 4, ulp / 4, -kTiny}).value(), 1.0);  // just below
  EXPECT_EQ(sum_of({-1.0, -ulp / 2, -kTiny}).value(), -1.0 - ulp);  // the sign is symmetric
  EXPECT_EQ(sum_of({2.0 - ulp, ulp / 2}).value(), 2.0);             // carries into the next binade
  EXPECT_EQ(sum_of({kMax, kMax}).value(), std::numeric_limits<double>::infinity());
}

TEST(ExactSum, AnyOrderAndAnySplit_GivesTheSameBits) {
  std::vector<double> values = adversarial(3000);
  const double expected = sum_of(values).value();
  std::mt19937_64 random(9);
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::shuffle(values.begin(), values.end(), random);
    EXPECT_EQ(sum_of(values).value(), expected);
    ExactSum total;
    for (std::size_t begin = 0; begin < values.size(); begin += 777) {
      const std::size_t end = std::min(values.size(), begin + 777);
      total.add(sum_of({values.begin() + static_cast<long>(begin), values.begin() + static_cast<long>(end)}));
    }
    EXPECT_EQ(total.value(), expected);
  }
}

TEST(ExactSum, MatchesIntegersExactly) {
  std::mt19937_64 random(2);
  std::int64_t exact = 0;
  ExactSum sum;
  for (int i = 0; i < 20000; ++i) {
    const auto value = static_cast<std::int64_t>(random() >> 20) - (std::int64_t{1} << 43);
    exact += value;
    sum.add(static_cast<double>(value));
  }
  EXPECT_EQ(sum.value(), static_cast<double>(exact));
}

TEST(ExactSum, Words_AddAsIntegers) {
  const ExactSum a = sum_of({1e18, 1e-200, -3.5});
  const ExactSum b = sum_of({-1e18, 2e-200, 7.25});
  ExactSum combined;
  for (int i = 0; i < ExactSum::kWords; ++i) combined.words()[i] = a.words()[i] + b.words()[i];
  EXPECT_EQ(combined.value(), sum_of({1e18, 1e-200, -3.5, -1e18, 2e-200, 7.25}).value());
}

// Each limb is carried long before it is full, so that the words of many ranks can be added without a carry.
TEST(ExactSum, Words_StaySmallWhateverIsAdded) {
  ExactSum sum;
  const double all_ones = 0x1.fffffffffffffp+40;
  for (int i = 0; i < 3'000'000; ++i) sum.add(all_ones);
  for (int i = 0; i < ExactSum::kLimbs; ++i) EXPECT_LT(std::abs(sum.words()[i]), std::int64_t{1} << 53);
  EXPECT_EQ(sum.value(), all_ones * 3e6);  // the product is rounded once, as the sum is
  for (int i = 0; i < 12; ++i) sum.add(ExactSum(sum));
  for (int i = 0; i < ExactSum::kLimbs; ++i) EXPECT_LT(std::abs(sum.words()[i]), std::int64_t{1} << 53);
  EXPECT_EQ(sum.value(), all_ones * 3e6 * 4096);
}

TEST(ExactSum, NonFiniteValues_AreCountedAndMakeNan) {
  const double infinity = std::numeric_limits<double>::infinity();
  ExactSum sum = sum_of({1.0, infinity, -infinity, std::nan("")});
  EXPECT_EQ(sum.num_nonfinite(), 3);
  EXPECT_TRUE(std::isnan(sum.value()));
  ExactSum other = sum_of({2.0});
  other.add(sum);
  EXPECT_EQ(other.num_nonfinite(), 3);
}

}  // namespace
}  // namespace shoal
