#pragma once

#include <string>
#include <vector>

#include "shoal/kernels/host/dense_dispatch.h"

namespace shoal::kernels::host {

/// One compilation of the inner loops.
struct TestedSet {
  std::string name;
  const KernelTable* table;
  const DenseKernels* dense;
};

/// Every compilation that this processor can run, the baseline first. Builds without a sanitizer have one more than
/// those that isa_dispatch.h chooses among: "wide", the 64-byte code lowered to AVX2, which tests the tiles and tails
/// of AVX-512 where that is missing.
std::vector<TestedSet> tested_sets();

/// The names of those that it cannot run.
std::vector<std::string> untested_sets();

/// Adds "wide" where this build and this processor have it. Defined in wide_set/ and in no_wide_set/.
void append_wide_set(std::vector<TestedSet>& sets);

}  // namespace shoal::kernels::host
