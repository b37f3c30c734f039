#pragma once

#include "shoal/kernels/host/isa/columns.h"
#include "shoal/kernels/host/isa/row_sums.h"

// The loop under isa/columns.h: partial sums of a block of rows stay in the L1 cache while its rows pass by four at a
// time.

namespace shoal::kernels::host::SHOAL_ISA {

/// A number as a type, for loops of known length.
template <int kValue>
struct Count {
  static constexpr int value = kValue;
};

/// A block's partial sums: partial[s][column - column_begin].
template <int kSums>
struct BlockSums {
  float partial[kSums][kStripColumns] = {};
};

/// partial[s][c] = sum over rows [row_begin, row_end) of what term(terms, row, column, count) puts into terms[s]: lanes
/// of columns column to column + 15, of which `count` exist. Row by row, from 0.
template <int kSums, typename Term>
[[gnu::always_inline]] inline void sum_block(const ColumnRange& block, BlockSums<kSums>& sums, Term term) {
  constexpr int kRowsAtOnce = 4;
  const std::int64_t num_columns = block.column_end - block.column_begin;
  const auto add_rows = [&](std::int64_t row, auto num_rows, std::int64_t c, std::int64_t count)
      __attribute__((always_inline)) {
    Lanes total[kSums];
    for (int s = 0; s < kSums; ++s) total[s] = load(&sums.partial[s][c]);
    for (int k = 0; k < num_rows.value; ++k) {
      Lanes terms[kSums];
      term(terms, row + k, block.column_begin + c, count);
      for (int s = 0; s < kSums; ++s) total[s] = total[s] + terms[s];
    }
    for (int s = 0; s < kSums; ++s) store(&sums.partial[s][c], total[s]);
  };
  const auto add_all_columns = [&](std::int64_t row, auto num_rows) __attribute__((always_inline)) {
    std::int64_t c = 0;
    for (; c + kLanes <= num_columns; c += kLanes) add_rows(row, num_rows, c, std::int64_t{kLanes});
    if (c < num_columns) add_rows(row, num_rows, c, num_columns - c);
  };
  std::int64_t row = block.row_begin;
  for (; row + kRowsAtOnce <= block.row_end; row += kRowsAtOnce) add_all_columns(row, Count<kRowsAtOnce>{});
  for (; row < block.row_end; ++row) add_all_columns(row, Count<1>{});
}

/// Calls body(block) for the range's blocks of kBlockRows rows, in order.
template <typename Body>
[[gnu::always_inline]] inline void for_each_block(const ColumnRange& range, Body body) {
  for (std::int64_t begin = range.row_begin; begin < range.row_end; begin += kBlockRows) {
    const std::int64_t end = begin + kBlockRows < range.row_end ? begin + kBlockRows : range.row_end;
    body(ColumnRange{begin, end, range.column_begin, range.column_end});
  }
}

/// sums[s * kStripColumns + column - column_begin] = the terms' sums over all rows of the range.
template <int kSums, typename Term>
[[gnu::always_inline]] inline void sum_columns(const ColumnRange& range, double* sums, Term term) {
  const std::int64_t num_columns = range.column_end - range.column_begin;
  for (int s = 0; s < kSums; ++s) {
    for (std::int64_t c = 0; c < num_columns; ++c) sums[s * kStripColumns + c] = 0.0;
  }
  for_each_block(
      range, [&](const ColumnRange& block) __attribute__((always_inline)) {
        BlockSums<kSums> block_sums;
        sum_block(block, block_sums, term);
        for (int s = 0; s < kSums; ++s) {
          for (std::int64_t c = 0; c < num_columns; ++c) {
            sums[s * kStripColumns + c] += static_cast<double>(block_sums.partial[s][c]);
          }
        }
      });
}

}  // namespace shoal::kernels::host::SHOAL_ISA
