#pragma once

#include "shoal/kernels/gradient_norm.h"

namespace shoal::kernels::host {

void add_sum_squares(Stream& stream, const Tensor& data, const Tensor& words);
void finish_gradient_norm(Stream& stream, const Tensor& words, const Tensor& block);

}  // namespace shoal::kernels::host
