#pragma once

#include "shoal/nn/variable.h"

namespace shoal::nn {

/// Adds to ctx.block: loss_sum += sum of (y - target)^2, count += number of elements. Equal shapes, F32. The gradient,
/// times the block's seed, is computed here and now, over y where the call holds its last handle (move it in).
/// Throws InvalidArgument on shapes.
void mse_loss(Context& ctx, Variable y, const Tensor& targets);

}  // namespace shoal::nn
