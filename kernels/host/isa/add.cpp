#include "shoal/kernels/host/isa/add.h"

#include "shoal/kernels/host/isa/map.h"
#include "shoal/kernels/host/isa/relu.h"
#include "shoal/kernels/host/isa/table_parts.h"

namespace shoal::kernels::host::SHOAL_ISA {
namespace {

void add(const float* a, const float* b, float* y, std::int64_t numel) {
  map_to(
      y, numel, [](const Lanes& x, const Lanes& z) __attribute__((always_inline)) { return x + z; }, a, b);
}

void add_relu(const float* a, const float* b, float* y, std::int64_t numel) {
  const auto sum = [](const Lanes& x, const Lanes& z) __attribute__((always_inline)) {
    const Lanes s = x + z;
    return keep_positive(s, s);
  };
  map_to(y, numel, sum, a, b);
}

}  // namespace

AddKernels add_kernels() { return {add, add_relu}; }

}  // namespace shoal::kernels::host::SHOAL_ISA
