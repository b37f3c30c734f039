#pragma once

#include "shoal/kernels/activation.h"

namespace shoal::kernels::host {

void activation_forward(Stream& stream, Activation kind, const Tensor& z, const Tensor& y);
void activation_backward(Stream& stream, Activation kind, const Tensor& z, const Tensor& dy, const GradTarget& dz);

}  // namespace shoal::kernels::host
