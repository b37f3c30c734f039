#include "shoal/tests/kernels/tested_sets.h"

namespace shoal::kernels::host {
namespace wide {
const KernelTable& table();
const DenseKernels& dense_table();
}  // namespace wide

void append_wide_set(std::vector<TestedSet>& sets) {
  if (is_supported(Isa::Avx2)) sets.push_back({"wide", &wide::table(), &wide::dense_table()});
}

}  // namespace shoal::kernels::host
