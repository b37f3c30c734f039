#pragma once

#include "shoal/kernels/sgd.h"

namespace shoal::kernels::host {

void sgd_update(Stream& stream, const SgdUpdate& t);

}  // namespace shoal::kernels::host
