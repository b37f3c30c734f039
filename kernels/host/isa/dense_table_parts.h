#pragma once

// What one instruction set contributes to the dense table: one function per file. Included by kernels/host/isa/*.cpp
// only.

#include "shoal/kernels/host/isa/dense_table.h"

namespace shoal::kernels::host::SHOAL_ISA {

ProductKernels product_kernels();
ColumnTotalKernels column_total_kernels();

}  // namespace shoal::kernels::host::SHOAL_ISA
