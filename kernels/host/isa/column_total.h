#pragma once

#include "shoal/kernels/host/isa/columns.h"

namespace shoal::kernels::host {

struct ColumnTotalKernels {
  /// sums[column - range.column_begin] = sum over the range's rows of x[row * num_columns + column].
  void (*partial)(const float* x, std::int64_t num_columns, const ColumnRange& range, double* sums);
};

}  // namespace shoal::kernels::host
