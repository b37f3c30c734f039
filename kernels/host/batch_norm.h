#pragma once

#include "shoal/kernels/batch_norm.h"

namespace shoal::kernels::host {

void batch_norm_forward(Stream& stream, const BatchNormForward& t);
void batch_norm_inference(Stream& stream, const BatchNormInference& t);
void batch_norm_backward(Stream& stream, const BatchNormBackward& t);

}  // namespace shoal::kernels::host
