#pragma once

#include "shoal/kernels/host/isa/attention.h"
#include "shoal/kernels/host/isa/column_total.h"
#include "shoal/kernels/host/isa/product.h"

namespace shoal::kernels::host {

/// The inner loops of the ops that multiply matrices, compiled for one instruction set.
struct DenseKernels {
  ProductKernels product;
  ColumnTotalKernels column_total;
  AttentionKernels attention;
};

// kernels/host/dense_dispatch.h chooses among these.
namespace baseline {
const DenseKernels& dense_table();
}
namespace avx2 {
const DenseKernels& dense_table();
}
namespace avx512 {
const DenseKernels& dense_table();
}

}  // namespace shoal::kernels::host
