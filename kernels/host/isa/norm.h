#pragma once

#include <cstdint>

#include "shoal/kernels/host/isa/columns.h"

namespace shoal::kernels::host {

struct LayerNormRows {
  const float* x;  // (R, C)
  const float* gamma;
  const float* beta;
  float* y;
  float* mean;  // (R), or null
  float* rstd;
  std::int64_t num_features;  // C
  float epsilon;
};

/// dx of rows. For RMS norm `mean` is null, and rstd is the rrms.
struct NormBackwardRows {
  const float* x;
  const float* dy;
  const float* mean;  // (R)
  const float* rstd;
  const float* gamma;
  float* dx;
  std::int64_t num_features;
  bool accumulate;
};

struct RmsNormRows {
  const float* x;
  const float* gamma;
  float* y;
  float* rrms;  // (R), or null
  std::int64_t num_features;
  float epsilon;
};

/// Sums for dgamma and dbeta. For RMS norm `mean` is null, and rstd is the rrms.
struct NormColumns {
  const float* x;
  const float* dy;
  const float* mean;  // (R)
  const float* rstd;
  std::int64_t num_features;
};

/// Rows [begin, end), or sums over a range (see columns.h) of dy xhat and, for layer norm, of dy.
struct NormKernels {
  void (*layer_norm)(const LayerNormRows& a, std::int64_t begin, std::int64_t end);
  void (*layer_norm_backward)(const NormBackwardRows& a, std::int64_t begin, std::int64_t end);
  void (*rms_norm)(const RmsNormRows& a, std::int64_t begin, std::int64_t end);
  void (*rms_norm_backward)(const NormBackwardRows& a, std::int64_t begin, std::int64_t end);
  void (*layer_norm_columns)(const NormColumns& a, const ColumnRange& range, double* sums);
  void (*rms_norm_columns)(const NormColumns& a, const ColumnRange& range, double* sums);
};

}  // namespace shoal::kernels::host
