#pragma once

#include "shoal/kernels/cast.h"

namespace shoal::kernels::host {

void cast(Stream& stream, const Tensor& src, const Tensor& dst);

}  // namespace shoal::kernels::host
