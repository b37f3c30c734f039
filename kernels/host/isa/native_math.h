#pragma once

#include "shoal/kernels/host/isa/vector.h"

// One native vector at a time, with multiplications fused into additions where the instruction set can: for products,
// whose bits may differ between instruction sets.

namespace shoal::kernels::host::SHOAL_ISA {

inline constexpr int kNativeLanes = SHOAL_VECTOR_BYTES / 4;
inline constexpr bool kHasFma = SHOAL_VECTOR_BYTES > 16;
inline constexpr float kMinusInfinity = -__builtin_inff();

[[gnu::always_inline]] inline NativeFloat load_native(const float* p) {
  NativeFloat r;
  __builtin_memcpy(&r, p, sizeof(r));
  return r;
}
[[gnu::always_inline]] inline void store_native(float* p, NativeFloat a) { __builtin_memcpy(p, &a, sizeof(a)); }
[[gnu::always_inline]] inline NativeFloat broadcast(float value) { return value - NativeFloat{}; }

/// a b + c, rounded once where the instruction set can.
[[gnu::always_inline]] inline NativeFloat multiply_add(NativeFloat a, NativeFloat b, NativeFloat c) {
  if constexpr (kHasFma) {
    NativeFloat r;
    for (int i = 0; i < kNativeLanes; ++i) r[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return r;
  } else {
    return a * b + c;
  }
}

/// The larger of each pair of lanes; a's where one is NaN.
[[gnu::always_inline]] inline NativeFloat larger(NativeFloat a, NativeFloat b) { return a < b ? b : a; }

/// e^x for x <= 0. Below -87, where results would soon be subnormal, 0; NaN stays NaN.
///
/// n = round(x / ln 2), r = x - n ln 2 in [-0.347, 0.347], ln 2 in two parts (fused, each step rounds once; without
/// fusion n hi is exact, since hi has 15 bits and n 7). The Taylor polynomial to r^7 / 7! leaves out less than r^8 / 8!
/// = 5e-9 < 0.1 u (u = 2^-24). r carries u |r| + 1e-8 < 0.5 u, the last two steps of the polynomial less than 1.2 u,
/// relative to results of at least 0.7: under 3 u altogether. Scaling by 2^n is exact.
[[gnu::always_inline]] inline NativeFloat exp_nonpositive(NativeFloat x) {
  // Adding it rounds to an integer, which the low bits then hold, the exponent's bias included.
  const NativeFloat magic = broadcast(0x1.8p23f + 127.0f);
  const NativeFloat shifted = multiply_add(x, broadcast(0x1.715476p+0f), magic);
  const NativeFloat n = shifted - magic;
  const NativeFloat r = multiply_add(n, broadcast(-0x1.7f7d1cp-20f), multiply_add(n, broadcast(-0x1.62e4p-1f), x));
  NativeFloat p = broadcast(0x1.a01a02p-13f);          // 1 / 7!
  p = multiply_add(p, r, broadcast(0x1.6c16c2p-10f));  // 1 / 6!
  p = multiply_add(p, r, broadcast(0x1.111112p-7f));   // 1 / 5!
  p = multiply_add(p, r, broadcast(0x1.555556p-5f));   // 1 / 4!
  p = multiply_add(p, r, broadcast(0x1.555556p-3f));   // 1 / 3!
  p = multiply_add(p, r, broadcast(0.5f));
  p = multiply_add(p, r, broadcast(1.0f));
  p = multiply_add(p, r, broadcast(1.0f));
  const NativeFloat scale = (NativeFloat)((NativeInt)shifted << 23);
  const NativeInt is_tiny = x < broadcast(-87.0f);
  return (NativeFloat)((NativeInt)(p * scale) & ~is_tiny);
}

/// 0, 1, 2, ... + first.
[[gnu::always_inline]] inline NativeInt lane_indices(std::int32_t first) {
  NativeInt r;
  for (int i = 0; i < kNativeLanes; ++i) r[i] = i;
  return r + first;
}

/// All lanes combined by halves; the result in every lane.
template <int kWidth = kNativeLanes / 2, typename Combine>
[[gnu::always_inline]] inline NativeFloat fold_lanes(NativeFloat a, Combine combine) {
  if constexpr (kWidth == 0) {
    return a;
  } else {
    NativeInt partner;
    for (int i = 0; i < kNativeLanes; ++i) partner[i] = i ^ kWidth;
    return fold_lanes<kWidth / 2>(combine(a, __builtin_shuffle(a, partner)), combine);
  }
}
[[gnu::always_inline]] inline NativeFloat sum_in_every_lane(NativeFloat a) {
  return fold_lanes(a, [](NativeFloat x, NativeFloat y) { return x + y; });
}
[[gnu::always_inline]] inline NativeFloat largest_in_every_lane(NativeFloat a) {
  return fold_lanes(a, [](NativeFloat x, NativeFloat y) { return larger(x, y); });
}

}  // namespace shoal::kernels::host::SHOAL_ISA
