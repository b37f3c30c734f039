#pragma once

#include <cstddef>
#include <cstdint>

// Sixteen fp32 lanes (or eight fp64 ones) as a plain struct of native vectors. The lane count is the same for every
// instruction set and no multiplication is fused with an addition, so a kernel written in lanes has the same bits on
// all of them. Included by kernels/host/isa/*.cpp only; everything lives in the namespace of the set it is compiled
// for, and nothing here uses inline code of the standard library, which the linker could take from the wrong set.

namespace shoal::kernels::host::SHOAL_ISA {

typedef float NativeFloat __attribute__((vector_size(SHOAL_VECTOR_BYTES)));
typedef std::int32_t NativeInt __attribute__((vector_size(SHOAL_VECTOR_BYTES)));
typedef double NativeDouble __attribute__((vector_size(SHOAL_VECTOR_BYTES)));
typedef float QuadFloat __attribute__((vector_size(16)));
typedef double PairDouble __attribute__((vector_size(16)));

inline constexpr int kLanes = 16;
inline constexpr int kParts = kLanes * 4 / SHOAL_VECTOR_BYTES;

struct Lanes {
  NativeFloat part[kParts];
};
struct IntLanes {
  NativeInt part[kParts];
};
/// Eight doubles.
struct DoubleLanes {
  NativeDouble part[kParts];
};

// Element-by-element operators of one lane type.
template <typename V>
inline constexpr bool kIsLanes = false;
template <>
inline constexpr bool kIsLanes<Lanes> = true;
template <>
inline constexpr bool kIsLanes<IntLanes> = true;
template <>
inline constexpr bool kIsLanes<DoubleLanes> = true;

template <typename R, typename V, typename Fn>
[[gnu::always_inline]] inline R each_part(const V& a, const V& b, Fn fn) {
  R r;
  for (int k = 0; k < kParts; ++k) r.part[k] = fn(a.part[k], b.part[k]);
  return r;
}

template <typename V>
requires kIsLanes<V>
[[gnu::always_inline]] inline V operator+(const V& a, const V& b) {
  return each_part<V>(
      a, b, [](auto x, auto y) __attribute__((always_inline)) { return x + y; });
}
template <typename V>
requires kIsLanes<V>
[[gnu::always_inline]] inline V operator-(const V& a, const V& b) {
  return each_part<V>(
      a, b, [](auto x, auto y) __attribute__((always_inline)) { return x - y; });
}
template <typename V>
requires kIsLanes<V>
[[gnu::always_inline]] inline V operator*(const V& a, const V& b) {
  return each_part<V>(
      a, b, [](auto x, auto y) __attribute__((always_inline)) { return x * y; });
}
template <typename V>
requires kIsLanes<V>
[[gnu::always_inline]] inline V operator/(const V& a, const V& b) {
  return each_part<V>(
      a, b, [](auto x, auto y) __attribute__((always_inline)) { return x / y; });
}
[[gnu::always_inline]] inline IntLanes operator&(const IntLanes& a, const IntLanes& b) {
  return each_part<IntLanes>(
      a, b, [](auto x, auto y) __attribute__((always_inline)) { return x & y; });
}
[[gnu::always_inline]] inline IntLanes operator|(const IntLanes& a, const IntLanes& b) {
  return each_part<IntLanes>(
      a, b, [](auto x, auto y) __attribute__((always_inline)) { return x | y; });
}

[[gnu::always_inline]] inline Lanes splat(float value) {
  Lanes r;
  for (int k = 0; k < kParts; ++k) r.part[k] = value - NativeFloat{};
  return r;
}
[[gnu::always_inline]] inline IntLanes splat(std::int32_t value) {
  IntLanes r;
  for (int k = 0; k < kParts; ++k) r.part[k] = value - NativeInt{};
  return r;
}
[[gnu::always_inline]] inline DoubleLanes splat(double value) {
  DoubleLanes r;
  for (int k = 0; k < kParts; ++k) r.part[k] = value - NativeDouble{};
  return r;
}

// Masks: all bits set where true. Comparisons with NaN are false.
[[gnu::always_inline]] inline IntLanes operator<(const Lanes& a, const Lanes& b) {
  return each_part<IntLanes>(
      a, b, [](auto x, auto y) __attribute__((always_inline)) { return x < y; });
}
[[gnu::always_inline]] inline IntLanes operator<=(const Lanes& a, const Lanes& b) {
  return each_part<IntLanes>(
      a, b, [](auto x, auto y) __attribute__((always_inline)) { return x <= y; });
}
[[gnu::always_inline]] inline IntLanes operator<(const IntLanes& a, const IntLanes& b) {
  return each_part<IntLanes>(
      a, b, [](auto x, auto y) __attribute__((always_inline)) { return x < y; });
}
[[gnu::always_inline]] inline IntLanes operator==(const IntLanes& a, const IntLanes& b) {
  return each_part<IntLanes>(
      a, b, [](auto x, auto y) __attribute__((always_inline)) { return x == y; });
}

/// Lane by lane mask ? yes : no.
template <typename V>
[[gnu::always_inline]] inline V select(const IntLanes& mask, const V& yes, const V& no) {
  V r;
  for (int k = 0; k < kParts; ++k) r.part[k] = mask.part[k] ? yes.part[k] : no.part[k];
  return r;
}

/// The same bits as another type.
[[gnu::always_inline]] inline IntLanes as_int(const Lanes& a) {
  IntLanes r;
  for (int k = 0; k < kParts; ++k) r.part[k] = (NativeInt)a.part[k];
  return r;
}
[[gnu::always_inline]] inline Lanes as_float(const IntLanes& a) {
  Lanes r;
  for (int k = 0; k < kParts; ++k) r.part[k] = (NativeFloat)a.part[k];
  return r;
}

template <int kBits>
[[gnu::always_inline]] inline IntLanes shift_left(const IntLanes& a) {
  IntLanes r;
  for (int k = 0; k < kParts; ++k) r.part[k] = a.part[k] << kBits;
  return r;
}
/// Copies the sign bit in from the left.
template <int kBits>
[[gnu::always_inline]] inline IntLanes shift_right_signed(const IntLanes& a) {
  IntLanes r;
  for (int k = 0; k < kParts; ++k) r.part[k] = a.part[k] >> kBits;
  return r;
}
template <int kBits>
[[gnu::always_inline]] inline IntLanes shift_right(const IntLanes& a) {
  typedef std::uint32_t NativeUnsigned __attribute__((vector_size(SHOAL_VECTOR_BYTES)));
  IntLanes r;
  for (int k = 0; k < kParts; ++k) r.part[k] = (NativeInt)((NativeUnsigned)a.part[k] >> kBits);
  return r;
}

// Memory, at any alignment. Part by part: a copy of the whole struct would go through the stack.
template <typename V, typename T>
[[gnu::always_inline]] inline V load_as(const T* p) {
  V r;
  for (int k = 0; k < kParts; ++k) {
    __builtin_memcpy(&r.part[k], p + k * (SHOAL_VECTOR_BYTES / static_cast<int>(sizeof(T))), sizeof(r.part[k]));
  }
  return r;
}
template <typename V, typename T>
[[gnu::always_inline]] inline void store_as(T* p, const V& a) {
  for (int k = 0; k < kParts; ++k) {
    __builtin_memcpy(p + k * (SHOAL_VECTOR_BYTES / static_cast<int>(sizeof(T))), &a.part[k], sizeof(a.part[k]));
  }
}
[[gnu::always_inline]] inline Lanes load(const float* p) { return load_as<Lanes>(p); }
[[gnu::always_inline]] inline void store(float* p, const Lanes& a) { store_as(p, a); }

/// `count` < 16 elements, then zeros.
[[gnu::always_inline]] inline Lanes load_partial(const float* p, std::int64_t count) {
  float padded[kLanes] = {};
  __builtin_memcpy(padded, p, static_cast<std::size_t>(count) * sizeof(float));
  return load(padded);
}
[[gnu::always_inline]] inline void store_partial(float* p, const Lanes& a, std::int64_t count) {
  float padded[kLanes];
  store(padded, a);
  __builtin_memcpy(p, padded, static_cast<std::size_t>(count) * sizeof(float));
}

/// Eight floats as doubles; exact.
[[gnu::always_inline]] inline DoubleLanes load_widened(const float* p) {
  typedef float HalfNative __attribute__((vector_size(SHOAL_VECTOR_BYTES / 2)));
  DoubleLanes r;
  for (int k = 0; k < kParts; ++k) {
    HalfNative half;
    __builtin_memcpy(&half, p + k * (SHOAL_VECTOR_BYTES / 8), sizeof(half));
    r.part[k] = __builtin_convertvector(half, NativeDouble);
  }
  return r;
}

// Folds over the lanes, always by the same tree: halves are combined until one lane is left.
[[gnu::always_inline]] inline float fold_sum(const Lanes& a) {
  float lane[kLanes];
  store(lane, a);
  QuadFloat quad[4];
  for (int k = 0; k < 4; ++k) __builtin_memcpy(&quad[k], lane + 4 * k, sizeof(quad[k]));
  const QuadFloat sum = (quad[0] + quad[2]) + (quad[1] + quad[3]);
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}
[[gnu::always_inline]] inline double fold_sum(const DoubleLanes& a) {
  double lane[kLanes / 2];
  store_as(lane, a);
  PairDouble pair[4];
  for (int k = 0; k < 4; ++k) __builtin_memcpy(&pair[k], lane + 2 * k, sizeof(pair[k]));
  const PairDouble sum = (pair[0] + pair[2]) + (pair[1] + pair[3]);
  return sum[0] + sum[1];
}
/// The largest lane; NaN lanes are passed over.
[[gnu::always_inline]] inline float fold_max(const Lanes& a) {
  float lane[kLanes];
  store(lane, a);
  float largest = lane[0];
  for (int i = 1; i < kLanes; ++i) largest = largest < lane[i] ? lane[i] : largest;
  return largest;
}

/// The sum of lanes' halves as eight doubles: lane l + lane l + 8, in double.
[[gnu::always_inline]] inline DoubleLanes widen_sum(const Lanes& a) {
  float lane[kLanes];
  store(lane, a);
  return load_widened(lane) + load_widened(lane + 8);
}

}  // namespace shoal::kernels::host::SHOAL_ISA
