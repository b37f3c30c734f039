#include "shoal/kernels/host/isa/column_total.h"

#include "shoal/kernels/host/isa/column_sums.h"
#include "shoal/kernels/host/isa/dense_table_parts.h"

namespace shoal::kernels::host::SHOAL_ISA {
namespace {

void partial(const float* x, std::int64_t num_columns, const ColumnRange& range, double* sums) {
  sum_columns<1>(range, sums, [&](Lanes(&terms)[1], std::int64_t row, std::int64_t column, std::int64_t count) {
    terms[0] = load_counted(x + row * num_columns, column, count);
  });
}

}  // namespace

ColumnTotalKernels column_total_kernels() { return {partial}; }

}  // namespace shoal::kernels::host::SHOAL_ISA
