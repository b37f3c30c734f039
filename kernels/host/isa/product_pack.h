#pragma once

#include "shoal/kernels/host/isa/product.h"
#include "shoal/kernels/host/isa/vector.h"

// Operands are copied into panels before they are multiplied: panel p holds outer indices p * kWidth to p * kWidth +
// kWidth - 1, for each k in turn all of them side by side, zeros beyond the last.

namespace shoal::kernels::host::SHOAL_ISA {

/// A part of an operand: outer indices [outer, outer + outer_count), k in [depth, depth + depth_count).
struct OperandPart {
  std::int64_t outer;
  std::int64_t outer_count;
  std::int64_t depth;
  std::int64_t depth_count;
};

/// What rows beyond the last and sources outside the image read as.
inline constexpr std::int64_t kMaxRun = 512;
alignas(64) inline constexpr float kZeros[kMaxRun] = {};
static_assert(kMaxDepth <= kMaxRun);

/// The columns of four rows of four: to[q * pitch + r] = rows r, column q.
[[gnu::always_inline]] inline void transpose_quads(const QuadFloat (&row)[4], float* to, std::int64_t pitch) {
  typedef std::int32_t QuadInt __attribute__((vector_size(16)));
  const QuadFloat low01 = __builtin_shuffle(row[0], row[1], QuadInt{0, 4, 1, 5});
  const QuadFloat high01 = __builtin_shuffle(row[0], row[1], QuadInt{2, 6, 3, 7});
  const QuadFloat low23 = __builtin_shuffle(row[2], row[3], QuadInt{0, 4, 1, 5});
  const QuadFloat high23 = __builtin_shuffle(row[2], row[3], QuadInt{2, 6, 3, 7});
  const QuadFloat column[4] = {
      __builtin_shuffle(low01, low23, QuadInt{0, 1, 4, 5}), __builtin_shuffle(low01, low23, QuadInt{2, 3, 6, 7}),
      __builtin_shuffle(high01, high23, QuadInt{0, 1, 4, 5}), __builtin_shuffle(high01, high23, QuadInt{2, 3, 6, 7})};
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) __builtin_memcpy(to + q * pitch, &column[q], sizeof(QuadFloat));
}

/// panel[k * kWidth + w] = rows[w][k], at most kMaxRun of k. Four rows at a time, a cache line of each, so that rows
/// whose addresses compete for the same place in the cache are read once. With kWidth no multiple of 4 the last group
/// repeats the last row; what it writes beyond a k's kWidth floats is overwritten by the first group, which comes after
/// it, or by the next k. Up to 3 floats are written beyond the panel. What lies `ahead` elements on is fetched already.
template <int kWidth>
[[gnu::always_inline]] inline void interleave(const float* const* rows, std::int64_t depth_count, float* panel,
                                              std::int64_t ahead = 0) {
  constexpr int kGroups = (kWidth + 3) / 4;
  constexpr std::int64_t kLine = 16;
  const auto take = [&](std::int64_t begin, std::int64_t end) {
#pragma GCC unroll 8
    for (int g = kGroups - 1; g >= 0; --g) {
      const float* from[4];
      for (int r = 0; r < 4; ++r) from[r] = rows[4 * g + r < kWidth ? 4 * g + r : kWidth - 1];
      if (ahead != 0) {
        for (int r = 0; r < 4; ++r) __builtin_prefetch(from[r] + begin + ahead);
      }
      for (std::int64_t k = begin; k < end; k += 4) {
        QuadFloat row[4];
        for (int r = 0; r < 4; ++r) __builtin_memcpy(&row[r], from[r] + k, sizeof(QuadFloat));
        transpose_quads(row, panel + k * kWidth + 4 * g, kWidth);
      }
    }
  };
  std::int64_t k = 0;
  for (; k + kLine <= depth_count; k += kLine) take(k, k + kLine);
  for (; k + 4 <= depth_count; k += 4) take(k, k + 4);
  for (; k < depth_count; ++k) {
    for (int w = 0; w < kWidth; ++w) panel[k * kWidth + w] = rows[w][k];
  }
}

template <int kWidth>
inline void pack_depth_contiguous(const Operand& operand, const OperandPart& part, float* panels) {
  for (std::int64_t begin = 0; begin < part.outer_count; begin += kWidth) {
    const float* rows[kWidth];
    for (int w = 0; w < kWidth; ++w) {
      const bool exists = begin + w < part.outer_count;
      rows[w] = exists ? operand.data + (part.outer + begin + w) * operand.stride + part.depth : kZeros;
    }
    interleave<kWidth>(rows, part.depth_count, panels, kWidth * operand.stride);
    panels += kWidth * part.depth_count;
  }
}

/// A few k at a time through all panels: each cache line of the operand is used up while it is near.
template <int kWidth>
inline void pack_outer_contiguous(const Operand& operand, const OperandPart& part, float* panels) {
  constexpr std::int64_t kStep = 8;
  const float* source = operand.data + part.depth * operand.stride + part.outer;
  for (std::int64_t first = 0; first < part.depth_count; first += kStep) {
    const std::int64_t end = first + kStep < part.depth_count ? first + kStep : part.depth_count;
    for (std::int64_t begin = 0; begin < part.outer_count; begin += kWidth) {
      float* panel = panels + begin * part.depth_count;
      const float* from = source + begin;
      const std::int64_t count = part.outer_count - begin;
      if (count >= kWidth) {
        for (std::int64_t k = first; k < end; ++k) {
          __builtin_prefetch(from + (k + kStep) * operand.stride + kWidth - 1);
          __builtin_memcpy(panel + k * kWidth, from + k * operand.stride, kWidth * sizeof(float));
        }
      } else {
        for (std::int64_t k = first; k < end; ++k) {
          for (int w = 0; w < kWidth; ++w) panel[k * kWidth + w] = w < count ? from[k * operand.stride + w] : 0.0f;
        }
      }
    }
  }
}

}  // namespace shoal::kernels::host::SHOAL_ISA
