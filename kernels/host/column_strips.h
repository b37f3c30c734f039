#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "shoal/kernels/host/isa/columns.h"
#include "shoal/runtime/base/int_math.h"
#include "shoal/runtime/device/task.h"

namespace shoal::kernels::host {

/// How R rows are cut: see isa/columns.h. Depends on R alone.
struct RowChunks {
  explicit RowChunks(std::int64_t num_rows) : num_rows(num_rows) {
    const std::int64_t wanted = std::clamp<std::int64_t>(num_rows / (4 * kBlockRows), 1, kMaxRowChunks);
    rows_per_chunk = round_up(std::max<std::int64_t>(1, ceil_div(num_rows, wanted)), kBlockRows);
    num_chunks = ceil_div(num_rows, rows_per_chunk);
  }

  std::int64_t begin(std::int64_t chunk) const { return chunk * rows_per_chunk; }
  std::int64_t end(std::int64_t chunk) const { return std::min(begin(chunk) + rows_per_chunk, num_rows); }

  std::int64_t num_rows;
  std::int64_t rows_per_chunk = 1;
  std::int64_t num_chunks = 0;
};

/// kValues doubles for each column of a strip.
template <int kValues>
using StripValues = std::array<double, static_cast<std::size_t>(kValues* kStripColumns)>;

/// The strip of columns number `strip`, all rows.
inline ColumnRange strip_of(std::int64_t strip, std::int64_t num_rows, std::int64_t num_columns) {
  const std::int64_t begin = strip * kStripColumns;
  return {0, num_rows, begin, std::min(begin + kStripColumns, num_columns)};
}

inline ColumnRange chunk_of(ColumnRange strip, const RowChunks& chunks, std::int64_t chunk) {
  strip.row_begin = chunks.begin(chunk);
  strip.row_end = chunks.end(chunk);
  return strip;
}

/// Folds one strip, its chunks shared by the workers, and calls finish(totals).
///   partial(const ColumnRange&, StripValues&) writes the values of one chunk,
///   combine(StripValues& totals, const StripValues& next, const ColumnRange& next_range) folds in the next one, in
///   chunk order; totals start as chunk 0's, or as zeros where there are no rows.
template <int kValues, typename Partial, typename Combine, typename Finish>
void fold_strip(Workers& workers, const ColumnRange& strip, const Partial& partial, const Combine& combine,
                const Finish& finish) {
  const RowChunks chunks(strip.row_end);
  std::array<StripValues<kValues>, kMaxRowChunks> partials;
  if (chunks.num_chunks == 0) partials[0].fill(0);
  workers.parallel_for(chunks.num_chunks, [&](std::int64_t chunk, int) {
    partial(chunk_of(strip, chunks, chunk), partials[static_cast<std::size_t>(chunk)]);
  });
  for (std::int64_t chunk = 1; chunk < chunks.num_chunks; ++chunk) {
    combine(partials[0], partials[static_cast<std::size_t>(chunk)], chunk_of(strip, chunks, chunk));
  }
  finish(partials[0]);
}

/// Folds every strip as fold_strip does and calls finish(totals, strip) for each. With enough strips each is one
/// worker's; the bits are the same.
template <int kValues, typename Partial, typename Combine, typename Finish>
void fold_columns(Workers& workers, std::int64_t num_rows, std::int64_t num_columns, const Partial& partial,
                  const Combine& combine, const Finish& finish) {
  const std::int64_t num_strips = ceil_div(num_columns, kStripColumns);
  if (workers.count() > 1 && num_strips < 4 * workers.count()) {
    for (std::int64_t index = 0; index < num_strips; ++index) {
      const ColumnRange strip = strip_of(index, num_rows, num_columns);
      fold_strip<kValues>(workers, strip, partial, combine,
                          [&](const StripValues<kValues>& totals) { finish(totals, strip); });
    }
    return;
  }
  workers.parallel_for(num_strips, [&](std::int64_t index, int) {
    const ColumnRange strip = strip_of(index, num_rows, num_columns);
    const RowChunks chunks(num_rows);
    StripValues<kValues> totals;
    StripValues<kValues> next;
    if (chunks.num_chunks == 0) totals.fill(0);
    for (std::int64_t chunk = 0; chunk < chunks.num_chunks; ++chunk) {
      partial(chunk_of(strip, chunks, chunk), chunk == 0 ? totals : next);
      if (chunk > 0) combine(totals, next, chunk_of(strip, chunks, chunk));
    }
    finish(totals, strip);
  });
}

/// The combine of plain sums.
template <int kValues>
void add_strip_values(StripValues<kValues>& totals, const StripValues<kValues>& next, const ColumnRange& range) {
  const std::int64_t num_columns = range.column_end - range.column_begin;
  for (int value = 0; value < kValues; ++value) {
    double* to = totals.data() + value * kStripColumns;
    const double* from = next.data() + value * kStripColumns;
    for (std::int64_t column = 0; column < num_columns; ++column) to[column] += from[column];
  }
}

/// out[c] (+)= the sum, rounded to fp32 first. A null `out` is not wanted.
inline void write_sums(float* out, bool accumulate, const double* sums, const ColumnRange& range) {
  if (out == nullptr) return;
  for (std::int64_t column = range.column_begin; column < range.column_end; ++column) {
    const auto sum = static_cast<float>(sums[column - range.column_begin]);
    out[column] = accumulate ? out[column] + sum : sum;
  }
}

}  // namespace shoal::kernels::host
