#pragma once

#include <cstdint>

#include "shoal/kernels/host/isa/columns.h"

namespace shoal::kernels::host {

/// y = (x - mean) (gamma rstd) + beta, then max(0, y) with relu.
struct BatchNormRows {
  const float* x;  // (R, C)
  const float* mean;
  const float* rstd;      // (C), or null: 1 / sqrt(variance + epsilon)
  const float* variance;  // (C), or null
  const float* gamma;
  const float* beta;
  float* y;
  std::int64_t num_channels;  // C
  float epsilon;
  bool relu;
};

struct BatchNormGradient {
  const float* x;  // (R, C)
  const float* y;  // (R, C) with relu, or null
  const float* dy;
  const float* mean;
  const float* rstd;
  const float* gamma;
  float* dx;
  std::int64_t num_channels;
  std::int64_t num_rows;  // R, of all the batch
  bool accumulate;
};

struct BatchNormKernels {
  /// values[c] = mean and values[kStripColumns + c] = sum of squares about it, over the range.
  void (*moments)(const float* x, std::int64_t num_channels, const ColumnRange& range, double* values);
  void (*normalise)(const BatchNormRows& a, std::int64_t begin, std::int64_t end);
  /// Sums of g xhat and of g, where g is dy masked by y.
  void (*gradient_sums)(const BatchNormGradient& a, const ColumnRange& range, double* sums);
  /// dx over the range, from the sums over all rows.
  void (*gradient)(const BatchNormGradient& a, const ColumnRange& range, const double* sums);
};

}  // namespace shoal::kernels::host
