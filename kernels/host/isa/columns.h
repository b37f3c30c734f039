#pragma once

#include <cstdint>

namespace shoal::kernels::host {

// Sums down the columns of an (R, C) array, in an order that R and C alone decide: rows are cut into at most
// kMaxRowChunks chunks of whole blocks of kBlockRows rows; a block is summed row by row in fp32, block sums are added
// in double in block order, and chunk sums in chunk order.

/// Columns worked on together: few enough for their partial sums to stay in the L1 cache.
inline constexpr std::int64_t kStripColumns = 512;
inline constexpr std::int64_t kBlockRows = 64;
inline constexpr std::int64_t kMaxRowChunks = 16;

/// Rows [row_begin, row_end) of columns [column_begin, column_end), at most kStripColumns of them.
struct ColumnRange {
  std::int64_t row_begin;
  std::int64_t row_end;
  std::int64_t column_begin;
  std::int64_t column_end;
};

}  // namespace shoal::kernels::host
