#pragma once

#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

/// block.loss_sum += sum of (y[i] - target[i])^2 in double, in index order; block.count += numel.
/// dy[i] = seed * 2 (y[i] - target[i]); may be y itself; none when no gradient is wanted. F32, equal shapes.
void mse_loss(Stream& stream, const Tensor& y, const Tensor& target, const Tensor& dy, const Tensor& block);

}  // namespace shoal::kernels
