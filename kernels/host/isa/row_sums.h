#pragma once

#include "shoal/kernels/host/isa/vector.h"

// Sums along a row in an order that only the row's length decides: element i belongs to lane i mod 16; a lane adds
// kBlock elements in fp32, then moves its block sum to double. Tails are padded with what contributes 0.

namespace shoal::kernels::host::SHOAL_ISA {

/// Elements after which partial sums move to double: 32 additions per lane.
inline constexpr std::int64_t kRowBlock = 32 * kLanes;

/// Sums of up to kSums terms per element, over [0, numel): term(sums, i, count) adds the terms of elements i to i + 15
/// to its sums, `count` of which are in the row (16 but in the tail).
template <int kSums, typename Term>
[[gnu::always_inline]] inline void sum_row(std::int64_t numel, double (&totals)[kSums], Term term) {
  DoubleLanes total[kSums];
  for (int s = 0; s < kSums; ++s) total[s] = splat(0.0);
  for (std::int64_t block = 0; block < numel; block += kRowBlock) {
    Lanes sums[kSums];
    for (int s = 0; s < kSums; ++s) sums[s] = splat(0.0f);
    const std::int64_t end = block + kRowBlock < numel ? block + kRowBlock : numel;
    std::int64_t i = block;
    for (; i + kLanes <= end; i += kLanes) term(sums, i, std::int64_t{kLanes});
    if (i < end) term(sums, i, end - i);
    for (int s = 0; s < kSums; ++s) total[s] = total[s] + widen_sum(sums[s]);
  }
  for (int s = 0; s < kSums; ++s) totals[s] = fold_sum(total[s]);
}

/// Elements i to i + 15 of which `count` exist; the rest reads as 0.
[[gnu::always_inline]] inline Lanes load_counted(const float* p, std::int64_t i, std::int64_t count) {
  return count == kLanes ? load(p + i) : load_partial(p + i, count);
}

[[gnu::always_inline]] inline void store_counted(float* p, const Lanes& value, std::int64_t count) {
  if (count == kLanes) {
    store(p, value);
  } else {
    store_partial(p, value, count);
  }
}

/// `value` in the first `count` lanes, 0 in the others.
[[gnu::always_inline]] inline Lanes keep_counted(const Lanes& value, std::int64_t count) {
  if (count == kLanes) return value;
  float padded[2 * kLanes] = {};
  store(padded, value);
  for (std::int64_t lane = count; lane < kLanes; ++lane) padded[lane] = 0.0f;
  return load(padded);
}

}  // namespace shoal::kernels::host::SHOAL_ISA
