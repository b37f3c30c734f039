#pragma once

#include "shoal/kernels/mse_loss.h"

namespace shoal::kernels::host {

void mse_loss(Stream& stream, const Tensor& y, const Tensor& target, const Tensor& dy, const Tensor& block);

}  // namespace shoal::kernels::host
