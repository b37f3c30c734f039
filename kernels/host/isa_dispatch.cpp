#include "shoal/kernels/host/isa_dispatch.h"

#include "shoal/kernels/isa.h"

namespace shoal::kernels::host {

const char* isa_name(Isa isa) {
  switch (isa) {
    case Isa::Avx512:
      return "avx512";
    case Isa::Avx2:
      return "avx2";
    case Isa::Baseline:
      break;
  }
  return "baseline";
}

bool is_supported(Isa isa) {
  switch (isa) {
    case Isa::Avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && is_supported(Isa::Avx2);
    case Isa::Avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Isa::Baseline:
      break;
  }
  return true;
}

const KernelTable& kernel_table(Isa isa) {
  switch (isa) {
    case Isa::Avx512:
      return avx512::table();
    case Isa::Avx2:
      return avx2::table();
    case Isa::Baseline:
      break;
  }
  return baseline::table();
}

Isa best_isa() {
  static const Isa best = is_supported(Isa::Avx512) ? Isa::Avx512 : is_supported(Isa::Avx2) ? Isa::Avx2 : Isa::Baseline;
  return best;
}

const KernelTable& kernel_table() {
  static const KernelTable& best = kernel_table(best_isa());
  return best;
}

}  // namespace shoal::kernels::host

namespace shoal::kernels {

const char* isa_name() { return host::isa_name(host::best_isa()); }

}  // namespace shoal::kernels
