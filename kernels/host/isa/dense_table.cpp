#include "shoal/kernels/host/isa/dense_table.h"

#include "shoal/kernels/host/isa/attention_parts.h"
#include "shoal/kernels/host/isa/dense_table_parts.h"

namespace shoal::kernels::host::SHOAL_ISA {

const DenseKernels& dense_table() {
  static const DenseKernels kernels{
      .product = product_kernels(),
      .column_total = column_total_kernels(),
      .attention = {attention_forward, attention_backward},
  };
  return kernels;
}

}  // namespace shoal::kernels::host::SHOAL_ISA
