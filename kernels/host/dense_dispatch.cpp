#include "shoal/kernels/host/dense_dispatch.h"

namespace shoal::kernels::host {

const DenseKernels& dense_kernels(Isa isa) {
  switch (isa) {
    case Isa::Avx512:
      return avx512::dense_table();
    case Isa::Avx2:
      return avx2::dense_table();
    case Isa::Baseline:
      break;
  }
  return baseline::dense_table();
}

const DenseKernels& dense_kernels() {
  static const DenseKernels& best = dense_kernels(best_isa());
  return best;
}

}  // namespace shoal::kernels::host
