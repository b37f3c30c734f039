#pragma once

#include <cstdint>
#include <limits>

namespace shoal {

/// a * b; throws InvalidArgument naming both where the product leaves int64.
std::int64_t checked_mul(std::int64_t a, std::int64_t b);

/// Smallest integer >= a / b, for a >= 0 and b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// Smallest multiple of `multiple` that is >= a, for a >= 0 and multiple > 0; throws InvalidArgument where it leaves
/// int64.
constexpr std::int64_t round_up(std::int64_t a, std::int64_t multiple) {
  const std::int64_t count = ceil_div(a, multiple);
  const bool fits = count <= std::numeric_limits<std::int64_t>::max() / multiple;
  return fits ? count * multiple : checked_mul(count, multiple);
}

}  // namespace shoal
