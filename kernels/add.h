#pragma once

#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

/// y[i] = a[i] + b[i]; with `relu`, max(0, a[i] + b[i]). F32, equal element counts; y may be a or b.
void add(Stream& stream, const Tensor& a, const Tensor& b, const Tensor& y, bool relu = false);

}  // namespace shoal::kernels
