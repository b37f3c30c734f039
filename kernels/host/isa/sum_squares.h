#pragma once

#include <cstdint>

namespace shoal::kernels::host {

/// Elements whose squares are added in double before the exact accumulator takes over.
inline constexpr std::int64_t kSquareGroup = 64;

struct SumSquaresKernels {
  /// sums[k] = sum of the squares of group k, elements [64 k, min(64 k + 64, numel)), in double: element i of a group
  /// belongs to lane i mod 8, lanes are added by halves. Squares of fp32 are exact in double.
  void (*groups)(const float* data, std::int64_t numel, double* sums);
};

}  // namespace shoal::kernels::host
