#pragma once

#include <cstdint>

namespace shoal {

/// Smallest integer >= a / b, for a >= 0 and b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Smallest multiple of `multiple` that is >= a, for a >= 0.
constexpr std::int64_t round_up(std::int64_t a, std::int64_t multiple) { return ceil_div(a, multiple) * multiple; }

/// a * b; throws InvalidArgument naming both where the product leaves int64.
std::int64_t checked_mul(std::int64_t a, std::int64_t b);

}  // namespace shoal
