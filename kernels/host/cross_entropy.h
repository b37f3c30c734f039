#pragma once

#include "shoal/kernels/cross_entropy.h"

namespace shoal::kernels::host {

void cross_entropy(Stream& stream, const CrossEntropy& t);

}  // namespace shoal::kernels::host
