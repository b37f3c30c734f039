#pragma once

#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

/// dst[i] = src[i] in dst's dtype, rounded to nearest even; any pair of F32, BF16, F16; NaN stays NaN. Equal element
/// counts, no overlap.
void cast(Stream& stream, const Tensor& src, const Tensor& dst);

}  // namespace shoal::kernels
