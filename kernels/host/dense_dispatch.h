#pragma once

#include "shoal/kernels/host/isa/dense_table.h"
#include "shoal/kernels/host/isa_dispatch.h"

namespace shoal::kernels::host {

/// The functions compiled for `isa`. Calling them where it is not supported is a crash.
const DenseKernels& dense_kernels(Isa isa);

/// Those of the best supported instruction set.
const DenseKernels& dense_kernels();

}  // namespace shoal::kernels::host
