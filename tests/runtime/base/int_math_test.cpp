#include "shoal/runtime/base/int_math.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "shoal/runtime/base/error.h"

namespace shoal {
namespace {

TEST(IntMath, CeilDivAndRoundUp_MatchTheirDefinition) {
  for (std::int64_t a = 0; a < 40; ++a) {
    for (std::int64_t b = 1; b < 12; ++b) {
      const std::int64_t quotient = ceil_div(a, b);
      EXPECT_GE(quotient * b, a);
      EXPECT_LT((quotient - 1) * b, a);
      EXPECT_EQ(round_up(a, b), quotient * b);
    }
  }
}

TEST(IntMath, CeilDivAndRoundUp_HoldUpToTheLargestInteger) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  static_assert(ceil_div(kMax, 2) == std::int64_t{1} << 62);
  EXPECT_EQ(ceil_div(kMax, kMax), 1);
  EXPECT_EQ(ceil_div(kMax - 1, kMax), 1);
  EXPECT_EQ(round_up(kMax, 1), kMax);
  EXPECT_EQ(round_up(kMax - 63, 64), kMax - 63);
  for (const std::int64_t a : {kMax, kMax - 62}) {
    try {
      round_up(a, 64);
      ADD_FAILURE() << "did not throw";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    }
  }
}

TEST(IntMath, CheckedMul_ThrowsOnlyBeyondInt64) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(checked_mul(kMax, 1), kMax);
  EXPECT_EQ(checked_mul(-kMax - 1, 1), -kMax - 1);
  EXPECT_EQ(checked_mul(kMax, 0), 0);
  EXPECT_EQ(checked_mul(std::int64_t{1} << 31, std::int64_t{1} << 31), std::int64_t{1} << 62);
  try {
    checked_mul(std::int64_t{1} << 32, std::int64_t{1} << 31);
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    EXPECT_NE(std::string(error.what()).find("4294967296 * 2147483648"), std::string::npos);
  }
}

}  // namespace
}  // namespace shoal
