#pragma once

#include <cstdint>

namespace shoal::kernels::host {

/// Dims as in kernels/pooling.h. Rows of output pixels are numbered over the batch: B * (H / window).
struct PoolShape {
  std::int64_t height;
  std::int64_t width;
  std::int64_t channels;
  std::int64_t window;
};

struct MaxPoolForward {
  PoolShape shape;
  const float* x;
  float* y;
  std::uint8_t* argmax;  // or null
};

struct MaxPoolBackward {
  PoolShape shape;
  const float* dy;
  const std::uint8_t* argmax;
  float* dx;
  bool accumulate;
};

/// Images of `pixels` by `channels`; src and dst are x and y, or dy and dx.
struct AveragePool {
  const float* src;
  float* dst;
  std::int64_t pixels;
  std::int64_t channels;
  bool accumulate;
};

struct PoolingKernels {
  /// Output rows [begin, end).
  void (*max_pool)(const MaxPoolForward& a, std::int64_t begin, std::int64_t end);
  /// The input rows under output rows [begin, end), the columns that no window covers included; rows below the last
  /// window are not touched.
  void (*max_pool_backward)(const MaxPoolBackward& a, std::int64_t begin, std::int64_t end);
  /// Images [begin, end).
  void (*average)(const AveragePool& a, std::int64_t begin, std::int64_t end);
  void (*average_backward)(const AveragePool& a, std::int64_t begin, std::int64_t end);
};

}  // namespace shoal::kernels::host
