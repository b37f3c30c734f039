#pragma once

#include "shoal/kernels/host/isa/vector.h"

// Exponential and what is made of it, without fused operations: the same bits on every instruction set.
// u is 2^-24.

namespace shoal::kernels::host::SHOAL_ISA {

[[gnu::always_inline]] inline Lanes negate(const Lanes& a) {
  return as_float(
      each_part<IntLanes>(as_int(a), splat(std::int32_t(-0x7fffffff - 1)), [](auto x, auto y) { return x ^ y; }));
}
[[gnu::always_inline]] inline Lanes absolute(const Lanes& a) { return as_float(as_int(a) & splat(0x7fffffff)); }

/// a limited to [low, high]; NaN stays NaN.
[[gnu::always_inline]] inline Lanes clamp(const Lanes& a, float low, float high) {
  const Lanes raised = select(a < splat(low), splat(low), a);
  return select(splat(high) < raised, splat(high), raised);
}

/// e^x. Infinity above 88.73, 0 below -104, subnormal results included; NaN stays NaN.
///
/// n = round(x / ln 2), r = x - n ln 2 in [-0.3466, 0.3466] with ln 2 = hi + lo, hi of 15 bits: n hi is exact (n has at
/// most 8 bits), x - n hi is exact (Sterbenz), and rounding n lo and the last subtraction leaves |error of r| <= u |r|
/// + u |n lo| < 0.36 u. e^r = 1 + (r + r^2 q(r)), q the Taylor polynomial to r^5 / 7!, whose remainder r^8 / 8! is
/// below 5e-9 < 0.1 u. r + r^2 q rounds with at most 0.42 u |..|, the last addition with u (results in [0.7, 1.42)).
/// Together less than 2 u relative to the result: under 2 ulp. The two scalings by powers of two are exact except where
/// the result is subnormal.
[[gnu::always_inline]] inline Lanes exp(const Lanes& x_any) {
  const Lanes x = clamp(x_any, -105.0f, 89.0f);
  const Lanes magic = splat(0x1.8p23f);  // adding it rounds to an integer, which the low bits then hold
  const Lanes shifted = x * splat(0x1.715476p+0f) + magic;
  const Lanes n = shifted - magic;
  const Lanes r = (x - n * splat(0x1.62e4p-1f)) - n * splat(0x1.7f7d1cp-20f);
  Lanes q = splat(0x1.a01a02p-13f);    // 1 / 7!
  q = q * r + splat(0x1.6c16c2p-10f);  // 1 / 6!
  q = q * r + splat(0x1.111112p-7f);   // 1 / 5!
  q = q * r + splat(0x1.555556p-5f);   // 1 / 4!
  q = q * r + splat(0x1.555556p-3f);   // 1 / 3!
  q = q * r + splat(0.5f);
  const Lanes p = splat(1.0f) + (r + (r * r) * q);
  const IntLanes exponent = as_int(shifted) - as_int(magic);
  const IntLanes half = shift_right_signed<1>(exponent);
  const IntLanes rest = exponent - half;
  const IntLanes bias = splat(127);
  return (p * as_float(shift_left<23>(half + bias))) * as_float(shift_left<23>(rest + bias));
}

}  // namespace shoal::kernels::host::SHOAL_ISA
