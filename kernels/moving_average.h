#pragma once

#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

/// running[i] += momentum * (staged_sum[i] / num_ranks - running[i]). F32, equal element counts.
void update_moving_average(Stream& stream, const Tensor& staged_sum, int num_ranks, float momentum,
                           const Tensor& running);

}  // namespace shoal::kernels
