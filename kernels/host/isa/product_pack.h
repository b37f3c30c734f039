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

/// panel[k * kWidth + w] = rows[w][k], at most kMaxRun of k: transposes 4 x 4 at a time. With kWidth no multiple of 4
/// the last group's rows are repeated, and what they write beyond a k's kWidth floats is overwritten by the next k; up
/// to 3 floats are written beyond the panel.
template <int kWidth>
[[gnu::always_inline]] inline void interleave(const float* const* rows, std::int64_t depth_count, float* panel) {
  constexpr int kGroups = (kWidth + 3) / 4;
  const auto load_quad = [](const float* p) {
    QuadFloat quad;
    __builtin_memcpy(&quad, p, sizeof(quad));
    return quad;
  };
  typedef std::int32_t QuadInt __attribute__((vector_size(16)));
  std::int64_t k = 0;
  for (; k + 4 <= depth_count; k += 4) {
    QuadFloat out[4][kGroups];
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; ++g) {
      const auto row = [&](int r) { return load_quad(rows[4 * g + r < kWidth ? 4 * g + r : kWidth - 1] + k); };
      const QuadFloat low01 = __builtin_shuffle(row(0), row(1), QuadInt{0, 4, 1, 5});
      const QuadFloat high01 = __builtin_shuffle(row(0), row(1), QuadInt{2, 6, 3, 7});
      const QuadFloat low23 = __builtin_shuffle(row(2), row(3), QuadInt{0, 4, 1, 5});
      const QuadFloat high23 = __builtin_shuffle(row(2), row(3), QuadInt{2, 6, 3, 7});
      out[0][g] = __builtin_shuffle(low01, low23, QuadInt{0, 1, 4, 5});
      out[1][g] = __builtin_shuffle(low01, low23, QuadInt{2, 3, 6, 7});
      out[2][g] = __builtin_shuffle(high01, high23, QuadInt{0, 1, 4, 5});
      out[3][g] = __builtin_shuffle(high01, high23, QuadInt{2, 3, 6, 7});
    }
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) {
#pragma GCC unroll 8
      for (int g = 0; g < kGroups; ++g) {
        __builtin_memcpy(panel + (k + q) * kWidth + 4 * g, &out[q][g], sizeof(QuadFloat));
      }
    }
  }
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
    interleave<kWidth>(rows, part.depth_count, panels);
    panels += kWidth * part.depth_count;
  }
}

template <int kWidth>
inline void pack_outer_contiguous(const Operand& operand, const OperandPart& part, float* panels) {
  for (std::int64_t begin = 0; begin < part.outer_count; begin += kWidth) {
    const float* source = operand.data + part.depth * operand.stride + part.outer + begin;
    const std::int64_t count = part.outer_count - begin;
    if (count >= kWidth) {
      for (std::int64_t k = 0; k < part.depth_count; ++k) {
        __builtin_memcpy(panels + k * kWidth, source + k * operand.stride, kWidth * sizeof(float));
      }
    } else {
      for (std::int64_t k = 0; k < part.depth_count; ++k) {
        for (int w = 0; w < kWidth; ++w) panels[k * kWidth + w] = w < count ? source[k * operand.stride + w] : 0.0f;
      }
    }
    panels += kWidth * part.depth_count;
  }
}

template <int kWidth>
inline void pack(const Operand& operand, const OperandPart& part, float* panels) {
  if (part.depth_count == 0) return;
  switch (operand.kind) {
    case Operand::Kind::OuterContiguous:
      return pack_outer_contiguous<kWidth>(operand, part, panels);
    case Operand::Kind::DepthContiguous:
      return pack_depth_contiguous<kWidth>(operand, part, panels);
    case Operand::Kind::PositionPatches:
    case Operand::Kind::TapPatches:
      return;
  }
}

}  // namespace shoal::kernels::host::SHOAL_ISA
