#pragma once

#include "shoal/kernels/host/isa/vector.h"

// The exponential and what it needs, without fused operations: the same bits on every instruction set.
// u is 2^-24.

namespace shoal::kernels::host::SHOAL_ISA {

[[gnu::always_inline]] inline Lanes negate(const Lanes& a) {
  return as_float(each_part<IntLanes>(
      as_int(a), splat(std::int32_t(-0x7fffffff - 1)),
      [](auto x, auto y) __attribute__((always_inline)) { return x ^ y; }));
}
[[gnu::always_inline]] inline Lanes absolute(const Lanes& a) { return as_float(as_int(a) & splat(0x7fffffff)); }

/// a limited to [low, high]; NaN stays NaN.
[[gnu::always_inline]] inline Lanes clamp(const Lanes& a, float low, float high) {
  const Lanes raised = select(a < splat(low), splat(low), a);
  return select(splat(high) < raised, splat(high), raised);
}

/// e^x = p 2^n for -106 < x < 89: p in [0.7, 1.42), and `shifted` holds n in its low bits.
struct ExpParts {
  Lanes p;
  IntLanes shifted;
};

/// n = round(x / ln 2), r = x - n ln 2 in [-0.3468, 0.3468] with ln 2 = hi + lo, hi of 15 bits: n hi is exact (n has at
/// most 8 bits), x - n hi is exact (Sterbenz), and rounding n lo and the last subtraction leaves an error of r below u
/// |r|
/// + u |n lo| < 0.36 u. e^r = 1 + (r + r^2 q(r)), q the minimax polynomial of degree 4 by Remez' algorithm, error below
/// 0.08 u with its rounded coefficients. r + r^2 q rounds with at most 0.42 u, the last addition with u (results in
/// [0.7, 1.42)). Together less than 2 u relative to the result: under 2 ulp.
[[gnu::always_inline]] inline ExpParts exp_parts(const Lanes& x) {
  const Lanes magic = splat(0x1.8p23f);  // adding it rounds to an integer, which the low bits then hold
  const Lanes shifted = x * splat(0x1.715476p+0f) + magic;
  const Lanes n = shifted - magic;
  const Lanes r = (x - n * splat(0x1.62e4p-1f)) - n * splat(0x1.7f7d1cp-20f);
  Lanes q = splat(0x1.6a23a8p-10f);
  q = q * r + splat(0x1.123a36p-7f);
  q = q * r + splat(0x1.5558f4p-5f);
  q = q * r + splat(0x1.555490p-3f);
  q = q * r + splat(0x1.fffffcp-2f);
  return {splat(1.0f) + (r + (r * r) * q), as_int(shifted)};
}

/// e^x, under 2 ulp: infinity above 88.73, 0 below -104, subnormal results included; NaN stays NaN.
[[gnu::always_inline]] inline Lanes exp(const Lanes& x) {
  const ExpParts e = exp_parts(clamp(x, -105.0f, 89.0f));
  // 2^n in two factors, each a normal number: only the last product can round.
  const IntLanes n = e.shifted - as_int(splat(0x1.8p23f));
  const IntLanes half = shift_right_signed<1>(n);
  const IntLanes bias = splat(127);
  return (e.p * as_float(shift_left<23>(half + bias))) * as_float(shift_left<23>((n - half) + bias));
}

/// e^x for sigmoids, where extremes need no digits: as exp, but 0 below -87.7 and infinity above 88.3; NaN stays NaN.
[[gnu::always_inline]] inline Lanes exp_coarse(const Lanes& x) {
  const ExpParts e = exp_parts(clamp(x, -88.0f, 89.0f));
  // The bits of 2^n for n in [-127, 128], whose ends come out as 0 and infinity.
  return e.p * as_float(shift_left<23>(e.shifted) + splat(0x3f800000));
}

}  // namespace shoal::kernels::host::SHOAL_ISA
