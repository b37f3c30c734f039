#include "shoal/runtime/base/counter_rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "shoal/runtime/base/error.h"
#include "shoal/tests/support/tolerance.h"

namespace shoal {
namespace {

using Words = std::array<std::uint32_t, 4>;

// The known answers that Random123 ships for philox4x32 with 10 rounds.
TEST(CounterRng, Philox_KnownAnswers) {
  EXPECT_EQ(philox4x32(0, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint64_t ones = ~std::uint64_t{0};
  EXPECT_EQ(philox4x32(ones, ones, ones), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(CounterRng, Uniform_StaysInItsIntervalWithItsMoments) {
  constexpr int kCount = 40000;
  double sum = 0;
  double squares = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const float u = counter_uniform(7, 3, i);
    ASSERT_GE(u, 0.0F);
    ASSERT_LT(u, 1.0F);
    EXPECT_EQ(u, counter_uniform(7, 3, i));
    sum += u;
    squares += static_cast<double>(u) * u;
  }
  constexpr double kVariance = 1.0 / 12;
  constexpr double kVarianceOfSquares = 4.0 / 45;
  EXPECT_NEAR(sum / kCount, 0.5, test::five_standard_errors(kVariance, kCount));
  EXPECT_NEAR(squares / kCount, 1.0 / 3, test::five_standard_errors(kVarianceOfSquares, kCount));
}

TEST(CounterRng, Normal_IsFiniteWithItsMoments) {
  constexpr int kCount = 40000;
  double sum = 0;
  double squares = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double z = counter_normal(11, 5, i);
    ASSERT_TRUE(std::isfinite(z));
    sum += z;
    squares += z * z;
  }
  constexpr double kVariance = 1;
  constexpr double kVarianceOfSquares = 2;
  EXPECT_NEAR(sum / kCount, 0.0, test::five_standard_errors(kVariance, kCount));
  EXPECT_NEAR(squares / kCount, 1.0, test::five_standard_errors(kVarianceOfSquares, kCount));
}

TEST(CounterRng, Streams_DifferBySeedSequenceAndIndex) {
  EXPECT_NE(counter_uniform(1, 0, 0), counter_uniform(2, 0, 0));
  EXPECT_NE(counter_uniform(1, 0, 0), counter_uniform(1, 1, 0));
  EXPECT_NE(counter_uniform(1, 0, 0), counter_uniform(1, 0, 1));
  EXPECT_NE(counter_normal(1, 0, 0), counter_normal(1, 0, 1));
  EXPECT_NE(counter_normal(1, 0, 1), counter_normal(1, 0, 2));
}

TEST(CounterRng, Shuffle_IsABijectionAtEverySmallSize) {
  for (std::int64_t size = 1; size <= 260; ++size) {
    std::vector<bool> is_taken(static_cast<std::size_t>(size), false);
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t to = counter_shuffle(3, 9, i, size);
      ASSERT_GE(to, 0);
      ASSERT_LT(to, size);
      ASSERT_FALSE(is_taken[static_cast<std::size_t>(to)]) << "size " << size << " index " << i;
      is_taken[static_cast<std::size_t>(to)] = true;
    }
  }
}

TEST(CounterRng, Shuffle_MovesElementsAndDependsOnTheSequence) {
  constexpr std::int64_t kSize = 60000;
  std::int64_t num_fixed = 0;
  std::int64_t num_same = 0;
  for (std::int64_t i = 0; i < kSize; i += 10) {
    const std::int64_t to = counter_shuffle(3, 0, i, kSize);
    num_fixed += to == i ? 1 : 0;
    num_same += to == counter_shuffle(3, 1, i, kSize) ? 1 : 0;
  }
  // A random permutation keeps one element in expectation; ten of 6,000 looked at would be no permutation at random.
  EXPECT_LT(num_fixed, 10);
  EXPECT_LT(num_same, 10);
}

TEST(CounterRng, Shuffle_IndexOutside_IsInvalidArgument) {
  EXPECT_THROW(counter_shuffle(1, 1, 5, 5), Error);
  EXPECT_THROW(counter_shuffle(1, 1, -1, 5), Error);
  EXPECT_THROW(counter_shuffle(1, 1, 0, 0), Error);
}

}  // namespace
}  // namespace shoal
