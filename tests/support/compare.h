#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "shoal/runtime/base/dtype.h"
#include "shoal/tests/support/tolerance.h"

namespace shoal::test {

/// How a result differs from its reference. NaN matches NaN, an infinity the infinity of its sign; any other pair with
/// a non-finite member is a mismatch, counted and kept out of the measures.
struct Comparison {
  std::int64_t numel = 0;
  std::int64_t num_mismatched_nonfinite = 0;
  std::int64_t first_mismatched_nonfinite = -1;
  double max_ulp = 0;
  std::int64_t worst_ulp_index = -1;
  double max_scaled_error = 0;
  std::int64_t worst_scaled_index = -1;
  double normalised_mse = 0;
  double zero_fraction = 0;
};

/// Spacing of `dtype`'s values at |value| (of its smallest subnormals at 0).
double ulp_at(double value, DType dtype);

/// `dtype` is the type in which `got` was stored; it decides what an ulp is. F64 results are measured in fp32 ulps,
/// since that is what ops compute in.
Comparison compare_values(std::span<const double> got, std::span<const double> want, DType dtype);

/// Success when every bound of `tolerance` holds; under an exact one, zeros have the same sign. A reference of more
/// than 30 % zeros fails as MISTRUSTED unless `expect_zeros` or the tolerance is exact.
::testing::AssertionResult is_within(std::span<const double> got, std::span<const double> want, DType dtype,
                                     const Tolerance& tolerance, bool expect_zeros = false);

/// Success when all bytes are equal; names the first element that is not.
::testing::AssertionResult has_equal_bits(std::span<const std::byte> a, std::span<const std::byte> b, DType dtype);

}  // namespace shoal::test
