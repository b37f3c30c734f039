// Conversions in integer arithmetic, so that they need no instructions beyond the baseline and have the same bits
// everywhere. The bit layouts are IEEE 754's; the fp16 tricks are Fabian Giesen's ("Half to float done quick").

#include "shoal/kernels/host/isa/cast.h"

#include "shoal/kernels/host/isa/table_parts.h"
#include "shoal/kernels/host/isa/vector.h"

namespace shoal::kernels::host::SHOAL_ISA {
namespace {

typedef std::int16_t NativeShort __attribute__((vector_size(SHOAL_VECTOR_BYTES / 2)));
typedef std::uint16_t NativeUnsignedShort __attribute__((vector_size(SHOAL_VECTOR_BYTES / 2)));

constexpr std::int32_t kInfinity = 0x7f800000;
constexpr std::int32_t kSign = -0x7fffffff - 1;

[[gnu::always_inline]] inline IntLanes constant(std::int32_t value) { return splat(value); }

[[gnu::always_inline]] inline IntLanes load_halves(const std::uint16_t* p) {
  IntLanes r;
  for (int k = 0; k < kParts; ++k) {
    NativeUnsignedShort half;
    __builtin_memcpy(&half, p + k * (SHOAL_VECTOR_BYTES / 4), sizeof(half));
    r.part[k] = __builtin_convertvector(half, NativeInt);
  }
  return r;
}

[[gnu::always_inline]] inline void store_halves(std::uint16_t* p, const IntLanes& bits) {
  for (int k = 0; k < kParts; ++k) {
    const NativeShort half = __builtin_convertvector(bits.part[k], NativeShort);
    __builtin_memcpy(p + k * (SHOAL_VECTOR_BYTES / 4), &half, sizeof(half));
  }
}

// Each works on 16 elements as 32-bit integers.

[[gnu::always_inline]] inline IntLanes bf16_from_f32(const IntLanes& bits) {
  const IntLanes is_nan = constant(kInfinity) < (bits & constant(0x7fffffff));
  const IntLanes upper = shift_right<16>(bits);
  // Half an ulp less one, and one more where the last kept bit is odd: ties go to even.
  const IntLanes rounded = shift_right<16>((bits + constant(0x7fff)) + (upper & constant(1)));
  return select(is_nan, upper | constant(0x40), rounded);
}

[[gnu::always_inline]] inline IntLanes f32_from_bf16(const IntLanes& half) { return shift_left<16>(half); }

[[gnu::always_inline]] inline IntLanes f16_from_f32(const IntLanes& bits) {
  const IntLanes sign = bits & constant(kSign);
  const IntLanes magnitude = bits & constant(0x7fffffff);
  // Subnormal results: adding 0.5 puts the bits to keep at the end of the sum, which the addition rounds.
  const IntLanes half_one = constant(0x3f000000);
  const IntLanes subnormal = as_int(as_float(magnitude) + as_float(half_one)) - half_one;
  const IntLanes is_odd = shift_right<13>(magnitude) & constant(1);
  const IntLanes normal = shift_right<13>((magnitude - constant(112 << 23)) + (constant(0xfff) + is_odd));
  const IntLanes finite = select(magnitude < constant(113 << 23), subnormal, normal);
  const IntLanes special = select(constant(kInfinity) < magnitude, constant(0x7e00), constant(0x7c00));
  return select(magnitude < constant(143 << 23), finite, special) | shift_right<16>(sign);
}

[[gnu::always_inline]] inline IntLanes f32_from_f16(const IntLanes& half) {
  const IntLanes magnitude = shift_left<13>(half & constant(0x7fff));
  const IntLanes exponent = magnitude & constant(0x7c00 << 13);
  const IntLanes normal = magnitude + constant(112 << 23);
  const IntLanes special = magnitude + constant(224 << 23);
  // A subnormal is made a number in [2^-14, 2^-13) and 2^-14 taken away again, exactly.
  const IntLanes base = constant(113 << 23);
  const IntLanes subnormal = as_int(as_float(magnitude + base) - as_float(base));
  const IntLanes value =
      select(exponent == constant(0x7c00 << 13), special, select(exponent == constant(0), subnormal, normal));
  return value | shift_left<16>(half & constant(0x8000));
}

[[gnu::always_inline]] inline IntLanes load_element_bits(const float* p) { return load_as<IntLanes>(p); }
[[gnu::always_inline]] inline IntLanes load_element_bits(const std::uint16_t* p) { return load_halves(p); }
[[gnu::always_inline]] inline void store_element_bits(float* p, const IntLanes& bits) { store_as(p, bits); }
[[gnu::always_inline]] inline void store_element_bits(std::uint16_t* p, const IntLanes& bits) { store_halves(p, bits); }

template <typename Src, typename Dst, typename Fn>
[[gnu::always_inline]] inline void convert(const Src* src, Dst* dst, std::int64_t numel, Fn fn) {
  std::int64_t i = 0;
  for (; i + kLanes <= numel; i += kLanes) store_element_bits(dst + i, fn(load_element_bits(src + i)));
  if (i == numel) return;
  Src padded[kLanes] = {};
  Dst results[kLanes];
  const auto count = static_cast<std::size_t>(numel - i);
  __builtin_memcpy(padded, src + i, count * sizeof(Src));
  store_element_bits(results, fn(load_element_bits(padded)));
  __builtin_memcpy(dst + i, results, count * sizeof(Dst));
}

void f32_to_bf16(const float* src, std::uint16_t* dst, std::int64_t numel) {
  convert(
      src, dst, numel, [](const IntLanes& a) __attribute__((always_inline)) { return bf16_from_f32(a); });
}
void f32_to_f16(const float* src, std::uint16_t* dst, std::int64_t numel) {
  convert(
      src, dst, numel, [](const IntLanes& a) __attribute__((always_inline)) { return f16_from_f32(a); });
}
void bf16_to_f32(const std::uint16_t* src, float* dst, std::int64_t numel) {
  convert(
      src, dst, numel, [](const IntLanes& a) __attribute__((always_inline)) { return f32_from_bf16(a); });
}
void f16_to_f32(const std::uint16_t* src, float* dst, std::int64_t numel) {
  convert(
      src, dst, numel, [](const IntLanes& a) __attribute__((always_inline)) { return f32_from_f16(a); });
}
void bf16_to_f16(const std::uint16_t* src, std::uint16_t* dst, std::int64_t numel) {
  convert(
      src, dst, numel, [](const IntLanes& a) __attribute__((always_inline)) { return f16_from_f32(f32_from_bf16(a)); });
}
void f16_to_bf16(const std::uint16_t* src, std::uint16_t* dst, std::int64_t numel) {
  convert(
      src, dst, numel, [](const IntLanes& a) __attribute__((always_inline)) { return bf16_from_f32(f32_from_f16(a)); });
}

}  // namespace

CastKernels cast_kernels() { return {f32_to_bf16, f32_to_f16, bf16_to_f32, f16_to_f32, bf16_to_f16, f16_to_bf16}; }

}  // namespace shoal::kernels::host::SHOAL_ISA
