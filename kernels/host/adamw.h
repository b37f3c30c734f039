#pragma once

#include "shoal/kernels/adamw.h"

namespace shoal::kernels::host {

void adamw_update(Stream& stream, const AdamWUpdate& t);

}  // namespace shoal::kernels::host
