#pragma once

#include "shoal/kernels/attention.h"

namespace shoal::kernels::host {

// The ops of kernels/attention.h on host memory, arguments checked.

void attention_forward(Stream& stream, const AttentionShape& shape, const Tensor& qkv, const Tensor& out,
                       const Tensor& log_sum_exp);
void attention_backward(Stream& stream, const AttentionShape& shape, const AttentionBackward& t);

}  // namespace shoal::kernels::host
