#pragma once

#include "shoal/kernels/step_block.h"

namespace shoal::kernels::host {

void begin_step(Stream& stream, const StepStart& start, const Tensor& block);

}  // namespace shoal::kernels::host
