#pragma once

#include "shoal/kernels/host/isa/table.h"

namespace shoal::kernels::host {

enum class Isa { Baseline, Avx2, Avx512 };

/// "baseline", "avx2", "avx512".
const char* isa_name(Isa isa);

/// Whether this processor (and its operating system) runs the instructions.
bool is_supported(Isa isa);

/// The functions compiled for `isa`. Calling them where it is not supported is a crash.
const KernelTable& kernel_table(Isa isa);

/// The best supported instruction set, and its functions.
Isa best_isa();
const KernelTable& kernel_table();

}  // namespace shoal::kernels::host
