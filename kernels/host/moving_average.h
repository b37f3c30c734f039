#pragma once

#include "shoal/kernels/moving_average.h"

namespace shoal::kernels::host {

void update_moving_average(Stream& stream, const Tensor& staged_sum, int num_ranks, float momentum,
                           const Tensor& running);

}  // namespace shoal::kernels::host
