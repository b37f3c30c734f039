#pragma once

#include "shoal/nn/variable.h"

namespace shoal::nn {

/// Adds to ctx.block: loss_sum += sum over rows of -log softmax(logits)[target], count += rows, correct += rows whose
/// target has the largest logit. Rows with a negative target count for nothing.
/// logits (..., V) F32, targets (...) I32, or as many in one dimension. The gradient, times the block's seed, is
/// computed here and now, over the logits where the call holds their last handle (move them in). A target >= V makes
/// the stream fail with InvalidArgument. Throws InvalidArgument on shapes.
void cross_entropy(Context& ctx, Variable logits, const Tensor& targets);

}  // namespace shoal::nn
