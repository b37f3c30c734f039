#pragma once

#include <cstdint>

namespace shoal::kernels::host {

struct ActivationKernels {
  /// y[i] = f(z[i]).
  void (*relu)(const float* z, float* y, std::int64_t numel);
  void (*gelu)(const float* z, float* y, std::int64_t numel);
  void (*silu)(const float* z, float* y, std::int64_t numel);
  /// dz[i] (+)= f'(z[i]) dy[i].
  void (*relu_backward)(const float* z, const float* dy, float* dz, bool accumulate, std::int64_t numel);
  void (*gelu_backward)(const float* z, const float* dy, float* dz, bool accumulate, std::int64_t numel);
  void (*silu_backward)(const float* z, const float* dy, float* dz, bool accumulate, std::int64_t numel);
};

}  // namespace shoal::kernels::host
