#pragma once

#include "shoal/kernels/pooling.h"

namespace shoal::kernels::host {

void max_pool_forward(Stream& stream, const Tensor& x, int window, const Tensor& y, const Tensor& argmax);
void max_pool_backward(Stream& stream, const Tensor& dy, const Tensor& argmax, int window, const GradTarget& dx);
void global_average_pool_forward(Stream& stream, const Tensor& x, const Tensor& y);
void global_average_pool_backward(Stream& stream, const Tensor& dy, const GradTarget& dx);

}  // namespace shoal::kernels::host
