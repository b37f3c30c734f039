#include "shoal/kernels/host/isa/sum_squares.h"

#include "shoal/kernels/host/isa/table_parts.h"
#include "shoal/kernels/host/isa/vector.h"

namespace shoal::kernels::host::SHOAL_ISA {
namespace {

[[gnu::always_inline]] inline double sum_group(const float* x) {
  DoubleLanes sum = splat(0.0);
  for (int i = 0; i < kSquareGroup; i += 8) {
    const DoubleLanes v = load_widened(x + i);
    sum = sum + v * v;
  }
  return fold_sum(sum);
}

void groups(const float* data, std::int64_t numel, double* sums) {
  const std::int64_t whole = numel / kSquareGroup;
  for (std::int64_t k = 0; k < whole; ++k) sums[k] = sum_group(data + k * kSquareGroup);
  const std::int64_t rest = numel - whole * kSquareGroup;
  if (rest == 0) return;
  float padded[kSquareGroup] = {};
  __builtin_memcpy(padded, data + whole * kSquareGroup, static_cast<std::size_t>(rest) * sizeof(float));
  sums[whole] = sum_group(padded);
}

}  // namespace

SumSquaresKernels sum_squares_kernels() { return {groups}; }

}  // namespace shoal::kernels::host::SHOAL_ISA
