#pragma once

#include <algorithm>
#include <cstdint>

#include "shoal/runtime/base/int_math.h"
#include "shoal/runtime/device/task.h"

namespace shoal::kernels::host {

/// Elements below which handing work to another thread costs more than it saves.
inline constexpr std::int64_t kSpreadThreshold = 32768;
/// Elements of one chunk: 64 KiB of fp32, a multiple of every vector width.
inline constexpr std::int64_t kChunkElements = 16384;

/// Calls body(begin, end) over [0, numel) in fixed chunks, on all workers where there is enough to do.
template <typename Body>
void spread_elements(Workers& workers, std::int64_t numel, const Body& body) {
  if (numel < kSpreadThreshold) {
    if (numel > 0) body(std::int64_t{0}, numel);
    return;
  }
  workers.parallel_for(ceil_div(numel, kChunkElements), [&](std::int64_t chunk, int) {
    const std::int64_t begin = chunk * kChunkElements;
    body(begin, std::min(begin + kChunkElements, numel));
  });
}

/// Calls body(begin, end) over rows [0, num_rows) of `row_elements` elements each, in chunks of whole rows.
template <typename Body>
void spread_rows(Workers& workers, std::int64_t num_rows, std::int64_t row_elements, const Body& body) {
  if (num_rows == 0) return;
  if (num_rows == 1 || num_rows * row_elements < kSpreadThreshold) {
    body(std::int64_t{0}, num_rows);
    return;
  }
  const std::int64_t rows_per_chunk =
      std::max<std::int64_t>(1, kChunkElements / std::max<std::int64_t>(1, row_elements));
  workers.parallel_for(ceil_div(num_rows, rows_per_chunk), [&](std::int64_t chunk, int) {
    const std::int64_t begin = chunk * rows_per_chunk;
    body(begin, std::min(begin + rows_per_chunk, num_rows));
  });
}

}  // namespace shoal::kernels::host
