#include "shoal/kernels/host/isa/table.h"

#include "shoal/kernels/host/isa/table_parts.h"

namespace shoal::kernels::host::SHOAL_ISA {

const KernelTable& table() {
  static const KernelTable kernels{
      .activation = activation_kernels(),
      .add = add_kernels(),
      .norm = norm_kernels(),
      .cross_entropy = cross_entropy_kernels(),
      .embedding = embedding_kernels(),
      .sum_squares = sum_squares_kernels(),
      .update = update_kernels(),
      .batch_norm = batch_norm_kernels(),
      .cast = cast_kernels(),
      .pooling = pooling_kernels(),
      .fill = fill_kernels(),
  };
  return kernels;
}

}  // namespace shoal::kernels::host::SHOAL_ISA
