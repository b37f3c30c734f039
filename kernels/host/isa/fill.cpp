#include "shoal/kernels/host/isa/fill.h"

#include "shoal/kernels/host/isa/table_parts.h"
#include "shoal/kernels/host/isa/vector.h"

namespace shoal::kernels::host::SHOAL_ISA {
namespace {

void fill(float* dst, float value, std::int64_t numel) {
  const Lanes lanes = splat(value);
  std::int64_t i = 0;
  for (; i + kLanes <= numel; i += kLanes) store(dst + i, lanes);
  for (; i < numel; ++i) dst[i] = value;
}

}  // namespace

FillKernels fill_kernels() { return {fill}; }

}  // namespace shoal::kernels::host::SHOAL_ISA
