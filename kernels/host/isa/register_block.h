#pragma once

#include "shoal/kernels/host/isa/native_math.h"

// The innermost product: a block of the result that fits the registers, summed over k from two panels.

namespace shoal::kernels::host::SHOAL_ISA {

// 12 accumulators of the 16 registers up to AVX2, 24 of the 32 of AVX-512.
inline constexpr int kRegisterRows = SHOAL_VECTOR_BYTES == 64 ? 12 : 6;
inline constexpr int kRegisterColumns = 2 * kNativeLanes;

/// What a register block is added to and where it goes: kRegisterRows rows of kRegisterColumns.
struct BlockResult {
  float* row[kRegisterRows];
  const float* bias;  // kRegisterColumns floats, or null
  bool is_added;      // to what the rows hold
};

/// rows (+)= sum over k < depth of a[k * kRegisterRows + i] b[k * kRegisterColumns + j], + bias[j].
inline void multiply_block(std::int64_t depth, const float* a, const float* b, const BlockResult& result) {
  NativeFloat sum[kRegisterRows][2];
#pragma GCC unroll 16
  for (int i = 0; i < kRegisterRows; ++i) {
    sum[i][0] = NativeFloat{};
    sum[i][1] = NativeFloat{};
    __builtin_prefetch(result.row[i]);
    __builtin_prefetch(result.row[i] + kRegisterColumns - 1);
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    const NativeFloat b0 = load_native(b);
    const NativeFloat b1 = load_native(b + kNativeLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRegisterRows; ++i) {
      const NativeFloat ai = broadcast(a[i]);
      sum[i][0] = multiply_add(ai, b0, sum[i][0]);
      sum[i][1] = multiply_add(ai, b1, sum[i][1]);
    }
    a += kRegisterRows;
    b += kRegisterColumns;
  }
  if (result.is_added) {
#pragma GCC unroll 16
    for (int i = 0; i < kRegisterRows; ++i) {
      sum[i][0] = load_native(result.row[i]) + sum[i][0];
      sum[i][1] = load_native(result.row[i] + kNativeLanes) + sum[i][1];
    }
  }
  if (result.bias != nullptr) {
    const NativeFloat bias0 = load_native(result.bias);
    const NativeFloat bias1 = load_native(result.bias + kNativeLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRegisterRows; ++i) {
      sum[i][0] = sum[i][0] + bias0;
      sum[i][1] = sum[i][1] + bias1;
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRegisterRows; ++i) {
    store_native(result.row[i], sum[i][0]);
    store_native(result.row[i] + kNativeLanes, sum[i][1]);
  }
}

/// Block of a result that has fewer rows or columns than the register block: through a copy.
inline void multiply_edge(std::int64_t depth, const float* a, const float* b, const BlockResult& result,
                          std::int64_t rows, std::int64_t columns) {
  alignas(64) float copy[kRegisterRows][kRegisterColumns] = {};
  alignas(64) float bias[kRegisterColumns] = {};
  const auto bytes = static_cast<std::size_t>(columns) * sizeof(float);
  BlockResult inner{{}, nullptr, result.is_added};
  for (int i = 0; i < kRegisterRows; ++i) {
    inner.row[i] = copy[i];
    if (result.is_added && i < rows) __builtin_memcpy(copy[i], result.row[i], bytes);
  }
  if (result.bias != nullptr) {
    __builtin_memcpy(bias, result.bias, bytes);
    inner.bias = bias;
  }
  multiply_block(depth, a, b, inner);
  for (std::int64_t i = 0; i < rows; ++i) __builtin_memcpy(result.row[i], copy[i], bytes);
}

/// Either of the above.
[[gnu::always_inline]] inline void multiply_any(std::int64_t depth, const float* a, const float* b,
                                                const BlockResult& result, std::int64_t rows, std::int64_t columns) {
  if (rows >= kRegisterRows && columns >= kRegisterColumns) {
    multiply_block(depth, a, b, result);
  } else {
    multiply_edge(depth, a, b, result, rows < kRegisterRows ? rows : kRegisterRows,
                  columns < kRegisterColumns ? columns : kRegisterColumns);
  }
}

}  // namespace shoal::kernels::host::SHOAL_ISA
