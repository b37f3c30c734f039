#pragma once

#include "shoal/kernels/rms_norm.h"

namespace shoal::kernels::host {

void rms_norm_forward(Stream& stream, const Tensor& x, const Tensor& gamma, const Tensor& y, const Tensor& rrms,
                      float epsilon);
void rms_norm_backward(Stream& stream, const RmsNormBackward& t);

}  // namespace shoal::kernels::host
