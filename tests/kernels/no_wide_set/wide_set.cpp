#include "shoal/tests/kernels/tested_sets.h"

namespace shoal::kernels::host {

void append_wide_set(std::vector<TestedSet>& sets) { (void)sets; }

}  // namespace shoal::kernels::host
