#pragma once

#include <cstdint>

namespace shoal::kernels::host {

/// Dims as in kernels/cross_entropy.h; targets are below num_classes.
struct CrossEntropyRows {
  const float* logits;          // (R, V)
  const std::int32_t* targets;  // (R)
  float* dlogits;               // (R, V), may be logits; or null
  double* row_loss;             // (R)
  std::uint8_t* row_correct;    // (R)
  std::int64_t num_classes;     // V
  double seed;
};

struct CrossEntropyKernels {
  /// Rows [begin, end).
  void (*rows)(const CrossEntropyRows& a, std::int64_t begin, std::int64_t end);
};

}  // namespace shoal::kernels::host
