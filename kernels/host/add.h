#pragma once

#include "shoal/kernels/add.h"

namespace shoal::kernels::host {

void add(Stream& stream, const Tensor& a, const Tensor& b, const Tensor& y, bool relu);

}  // namespace shoal::kernels::host
