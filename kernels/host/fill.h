#pragma once

#include "shoal/kernels/fill.h"

namespace shoal::kernels::host {

void fill(Stream& stream, const Tensor& dst, float value);
void fill_random(Stream& stream, const RandomFill& fill, const Tensor& dst);

}  // namespace shoal::kernels::host
