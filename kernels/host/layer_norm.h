#pragma once

#include "shoal/kernels/layer_norm.h"

namespace shoal::kernels::host {

void layer_norm_forward(Stream& stream, const LayerNormForward& t);
void layer_norm_backward(Stream& stream, const LayerNormBackward& t);

}  // namespace shoal::kernels::host
