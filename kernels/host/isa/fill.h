#pragma once

#include <cstdint>

namespace shoal::kernels::host {

struct FillKernels {
  /// dst[i] = value.
  void (*fill)(float* dst, float value, std::int64_t numel);
};

}  // namespace shoal::kernels::host
