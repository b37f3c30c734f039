#pragma once

#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

/// Adds the squares of `data` (F32, any count) into `words`, the I64 tensor of ExactSum::kWords words: squares in
/// double over groups of 64 elements from the start of data, in order, then each group's sum exactly. Groups start at
/// data's first element, so callers pass ranges whose start is a multiple of 64 in the flat parameter.
void add_sum_squares(Stream& stream, const Tensor& data, const Tensor& words);

/// From the summed words (all ranks') and the block's summed count: grad_norm = sqrt(words) / (seed * count),
/// clip_factor = min(1, max_norm / grad_norm), is_skipped = the norm is not finite or the count is 0.
void finish_gradient_norm(Stream& stream, const Tensor& words, const Tensor& block);

}  // namespace shoal::kernels
