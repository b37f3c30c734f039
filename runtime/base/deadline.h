#pragma once

#include <chrono>

namespace shoal {

/// Longer deadlines are refused: points in time computed from them must stay inside the clock's range.
inline constexpr std::chrono::milliseconds kLongestDeadline = std::chrono::hours(24 * 365);

}  // namespace shoal
