#include "shoal/kernels/host/isa/add.h"

#include "shoal/kernels/host/isa/map.h"
#include "shoal/kernels/host/isa/table_parts.h"

namespace shoal::kernels::host::SHOAL_ISA {
namespace {

[[gnu::flatten]] void add(const float* a, const float* b, float* y, std::int64_t numel) {
  map_to(
      y, numel, [](const Lanes& x, const Lanes& z) { return x + z; }, a, b);
}

[[gnu::flatten]] void add_relu(const float* a, const float* b, float* y, std::int64_t numel) {
  const auto sum = [](const Lanes& x, const Lanes& z) {
    const Lanes s = x + z;
    return select(s <= splat(0.0f), splat(0.0f), s);
  };
  map_to(y, numel, sum, a, b);
}

}  // namespace

AddKernels add_kernels() { return {add, add_relu}; }

}  // namespace shoal::kernels::host::SHOAL_ISA
