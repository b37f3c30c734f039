#pragma once

#include <cstdint>

#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

/// dst[i] = value. F32.
void fill(Stream& stream, const Tensor& dst, float value);

/// How initial values are drawn. Uniform in [-scale, scale); Normal with standard deviation scale; Constant scale.
struct RandomFill {
  enum class Kind { Constant, Uniform, Normal } kind = Kind::Constant;
  float scale = 0;
  std::uint64_t seed = 0;
  std::uint64_t sequence = 0;    // names the parameter
  std::int64_t first_index = 0;  // global index of dst[0]
};

/// dst[i] = the value of global element first_index + i: the same for any split into calls. F32.
void fill_random(Stream& stream, const RandomFill& fill, const Tensor& dst);

}  // namespace shoal::kernels
