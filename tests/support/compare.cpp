#include "shoal/tests/support/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace shoal::test {
namespace {

struct FloatFormat {
  int mantissa_bits;  // without the leading one
  int min_exponent;   // of the smallest normal number
};

FloatFormat format_of(DType dtype) {
  switch (dtype) {
    case DType::BF16:
      return {7, -126};
    case DType::F16:
      return {10, -14};
    default:
      return {23, -126};
  }
}

bool is_integer(DType dtype) { return dtype == DType::I64 || dtype == DType::I32 || dtype == DType::U8; }

}  // namespace

double ulp_at(double value, DType dtype) {
  if (is_integer(dtype)) return 1;
  const FloatFormat format = format_of(dtype);
  int exponent = format.min_exponent;
  if (value != 0) exponent = std::max(exponent, std::ilogb(value));
  return std::ldexp(1.0, exponent - format.mantissa_bits);
}

Comparison compare_values(std::span<const double> got, std::span<const double> want, DType dtype) {
  Comparison result;
  result.numel = static_cast<std::int64_t>(want.size());
  double sum_error = 0;
  double sum_want = 0;
  std::int64_t num_finite = 0;
  std::int64_t num_zeros = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (std::isfinite(got[i]) && std::isfinite(want[i])) {
      sum_error += (got[i] - want[i]) * (got[i] - want[i]);
      sum_want += want[i] * want[i];
      ++num_finite;
      if (want[i] == 0) ++num_zeros;
      continue;
    }
    const bool matches = (std::isnan(got[i]) && std::isnan(want[i])) || got[i] == want[i];
    if (matches) continue;
    if (result.num_mismatched_nonfinite++ == 0) result.first_mismatched_nonfinite = static_cast<std::int64_t>(i);
  }
  if (num_finite == 0) return result;
  const double rms = std::sqrt(sum_want / static_cast<double>(num_finite));
  result.zero_fraction = static_cast<double>(num_zeros) / static_cast<double>(num_finite);
  result.normalised_mse = sum_error == 0 ? 0 : sum_error / sum_want;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!std::isfinite(got[i]) || !std::isfinite(want[i]) || got[i] == want[i]) continue;
    const double error = std::abs(got[i] - want[i]);
    const double ulps = error / ulp_at(want[i], dtype);
    const double scaled = error / std::max(std::abs(want[i]), rms);
    if (ulps > result.max_ulp) {
      result.max_ulp = ulps;
      result.worst_ulp_index = static_cast<std::int64_t>(i);
    }
    if (scaled > result.max_scaled_error) {
      result.max_scaled_error = scaled;
      result.worst_scaled_index = static_cast<std::int64_t>(i);
    }
  }
  return result;
}

::testing::AssertionResult is_within(std::span<const double> got, std::span<const double> want, DType dtype,
                                     const Tolerance& tolerance, bool expect_zeros) {
  if (got.size() != want.size()) {
    return ::testing::AssertionFailure() << fmt::format("{} elements, the reference has {}", got.size(), want.size());
  }
  const Comparison c = compare_values(got, want, dtype);
  const auto at = [&](std::int64_t index) {
    const auto i = static_cast<std::size_t>(index);
    return fmt::format("at [{}] got {:.9g}, want {:.9g}", index, got[i], want[i]);
  };
  if (c.num_mismatched_nonfinite > 0) {
    return ::testing::AssertionFailure() << fmt::format("{} of {} elements differ in NaN or infinity, first {}",
                                                        c.num_mismatched_nonfinite, c.numel,
                                                        at(c.first_mismatched_nonfinite));
  }
  if (tolerance.max_ulp == 0) {
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (got[i] != 0 || want[i] != 0 || std::signbit(got[i]) == std::signbit(want[i])) continue;
      return ::testing::AssertionFailure()
             << "must be exact, zeros' signs included: " << at(static_cast<std::int64_t>(i));
    }
    if (c.max_ulp == 0) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << fmt::format("must be exact: {} ({:.3g} ulp)", at(c.worst_ulp_index),
                                                        c.max_ulp);
  }
  if (c.zero_fraction > kMaxZeroFraction && !expect_zeros && c.numel > 4) {
    return ::testing::AssertionFailure() << fmt::format("MISTRUSTED: {:.0f} % of the reference are zeros",
                                                        100 * c.zero_fraction);
  }
  if (c.max_ulp > tolerance.max_ulp) {
    return ::testing::AssertionFailure() << fmt::format("{:.3g} ulp, allowed {:.3g}: {}", c.max_ulp, tolerance.max_ulp,
                                                        at(c.worst_ulp_index));
  }
  if (c.max_scaled_error > tolerance.max_scaled_error) {
    return ::testing::AssertionFailure() << fmt::format("scaled error {:.3g}, allowed {:.3g}: {}", c.max_scaled_error,
                                                        tolerance.max_scaled_error, at(c.worst_scaled_index));
  }
  if (c.normalised_mse > tolerance.normalised_mse) {
    return ::testing::AssertionFailure() << fmt::format("normalised mean square error {:.3g}, allowed {:.3g}; worst {}",
                                                        c.normalised_mse, tolerance.normalised_mse,
                                                        at(c.worst_scaled_index));
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult has_equal_bits(std::span<const std::byte> a, std::span<const std::byte> b, DType dtype) {
  if (a.size() != b.size()) {
    return ::testing::AssertionFailure() << fmt::format("{} bytes against {}", a.size(), b.size());
  }
  const auto [first, other] = std::mismatch(a.begin(), a.end(), b.begin());
  if (first == a.end()) return ::testing::AssertionSuccess();
  const auto element_bytes = static_cast<std::size_t>(dtype_bytes(dtype));
  const std::size_t index = static_cast<std::size_t>(first - a.begin()) / element_bytes;
  const auto hex = [&](std::span<const std::byte> bytes) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + index * element_bytes, element_bytes);
    return fmt::format("{:#x}", bits);
  };
  return ::testing::AssertionFailure() << fmt::format("element {} of {} has bits {} against {}", index,
                                                      a.size() / element_bytes, hex(a), hex(b));
}

}  // namespace shoal::test
