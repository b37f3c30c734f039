#pragma once

#include <cstdint>

namespace shoal::kernels::host {

struct AddKernels {
  /// y[i] = a[i] + b[i]; the second form max(0, a[i] + b[i]).
  void (*add)(const float* a, const float* b, float* y, std::int64_t numel);
  void (*add_relu)(const float* a, const float* b, float* y, std::int64_t numel);
};

}  // namespace shoal::kernels::host
