#pragma once

#include <cstdint>

namespace shoal::kernels::host {

/// Dims as in kernels/embedding.h, without bounds checks on ids.
struct EmbeddingRows {
  const std::int32_t* ids;     // (B, T)
  const float* table;          // (V, C)
  const float* positions;      // (T, C), or null
  float* y;                    // (B, T, C)
  std::int64_t num_positions;  // T
  std::int64_t width;          // C
};

struct EmbeddingGradient {
  const std::int32_t* ids;     // (B, T)
  const float* dy;             // (B, T, C)
  float* dtable;               // (V, C), added to
  float* dpositions;           // (T, C)
  std::int64_t num_sequences;  // B
  std::int64_t num_positions;  // T
  std::int64_t width;          // C
  bool accumulate_positions;
};

struct EmbeddingKernels {
  /// Rows [begin, end) of the B T rows.
  void (*forward)(const EmbeddingRows& a, std::int64_t begin, std::int64_t end);
  /// dtable[ids[r]] += dy[r] for all rows in order, columns [begin, end).
  void (*add_to_table)(const EmbeddingGradient& a, std::int64_t begin, std::int64_t end);
  /// dpositions of positions [begin, end).
  void (*sum_positions)(const EmbeddingGradient& a, std::int64_t begin, std::int64_t end);
};

}  // namespace shoal::kernels::host
