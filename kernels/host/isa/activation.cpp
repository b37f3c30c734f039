// Activations on 16 lanes at a time. Sigmoid forms are used throughout: z / (1 + e^-t) keeps its relative accuracy
// where 0.5 z (1 + tanh) cancels, and one exponential and one division serve every function.

#include "shoal/kernels/host/isa/activation.h"

#include "shoal/kernels/host/isa/map.h"
#include "shoal/kernels/host/isa/relu.h"
#include "shoal/kernels/host/isa/table_parts.h"
#include "shoal/kernels/host/isa/vector_math.h"

namespace shoal::kernels::host::SHOAL_ISA {
namespace {

constexpr float kTwoRootTwoOverPi = 0x1.988454p+0f;  // 2 sqrt(2 / pi)
constexpr float kCubic = 0.044715f;                  // of the tanh form of GELU
constexpr float kGeluFlat = 15.0f;                   // beyond it the derivative is 0 or 1 in fp32
constexpr float kSiluFlat = 150.0f;                  // as above

/// z sigmoid(t).
[[gnu::always_inline]] inline Lanes gate(const Lanes& z, const Lanes& t) {
  return z / (splat(1.0f) + exp_coarse(negate(t)));
}

/// d/dz [z sigmoid(t(z))] = s + z s (1 - s) t', with s = sigmoid(t) from e = e^-|t| <= 1, so that nothing overflows.
[[gnu::always_inline]] inline Lanes gate_slope(const Lanes& z, const Lanes& t, const Lanes& t_slope) {
  const Lanes e = exp_coarse(negate(absolute(t)));
  const Lanes inverse = splat(1.0f) / (splat(1.0f) + e);
  const Lanes small = e * inverse;  // 1 - s for t >= 0
  const Lanes s = select(t < splat(0.0f), small, inverse);
  return s + (z * t_slope) * (small * inverse);
}

/// 2 sqrt(2/pi) (z + 0.044715 z^3).
[[gnu::always_inline]] inline Lanes gelu_argument(const Lanes& z) {
  return z * (splat(kTwoRootTwoOverPi) + (splat(kTwoRootTwoOverPi * kCubic) * z) * z);
}

[[gnu::always_inline]] inline Lanes gelu_slope(const Lanes& z_any) {
  const Lanes z = clamp(z_any, -kGeluFlat, kGeluFlat);
  const Lanes t_slope = splat(kTwoRootTwoOverPi) + (splat(3 * kTwoRootTwoOverPi * kCubic) * z) * z;
  return gate_slope(z, gelu_argument(z), t_slope);
}

[[gnu::always_inline]] inline Lanes silu_slope(const Lanes& z_any) {
  const Lanes z = clamp(z_any, -kSiluFlat, kSiluFlat);
  return gate_slope(z, z, splat(1.0f));
}

void relu(const float* z, float* y, std::int64_t numel) {
  map_to(
      y, numel, [](const Lanes& a) __attribute__((always_inline)) { return keep_positive(a, a); }, z);
}

void gelu(const float* z, float* y, std::int64_t numel) {
  map_to(
      y, numel, [](const Lanes& a) __attribute__((always_inline)) { return gate(a, gelu_argument(a)); }, z);
}

void silu(const float* z, float* y, std::int64_t numel) {
  map_to(
      y, numel, [](const Lanes& a) __attribute__((always_inline)) { return gate(a, a); }, z);
}

void relu_backward(const float* z, const float* dy, float* dz, bool accumulate, std::int64_t numel) {
  const auto slope = [](const Lanes& a, const Lanes& d) __attribute__((always_inline)) { return keep_positive(a, d); };
  map_into(dz, accumulate, numel, slope, z, dy);
}

void gelu_backward(const float* z, const float* dy, float* dz, bool accumulate, std::int64_t numel) {
  map_into(
      dz, accumulate, numel,
      [](const Lanes& a, const Lanes& d) __attribute__((always_inline)) { return gelu_slope(a) * d; }, z, dy);
}

void silu_backward(const float* z, const float* dy, float* dz, bool accumulate, std::int64_t numel) {
  map_into(
      dz, accumulate, numel,
      [](const Lanes& a, const Lanes& d) __attribute__((always_inline)) { return silu_slope(a) * d; }, z, dy);
}

}  // namespace

ActivationKernels activation_kernels() { return {relu, gelu, silu, relu_backward, gelu_backward, silu_backward}; }

}  // namespace shoal::kernels::host::SHOAL_ISA
