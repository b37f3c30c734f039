#pragma once

#include <cstdint>

namespace shoal::kernels::host {

/// Conversions of `numel` elements, rounded to nearest even. NaN stay NaN, and are made quiet where they lose bits.
struct CastKernels {
  void (*f32_to_bf16)(const float* src, std::uint16_t* dst, std::int64_t numel);
  void (*f32_to_f16)(const float* src, std::uint16_t* dst, std::int64_t numel);
  void (*bf16_to_f32)(const std::uint16_t* src, float* dst, std::int64_t numel);
  void (*f16_to_f32)(const std::uint16_t* src, float* dst, std::int64_t numel);
  void (*bf16_to_f16)(const std::uint16_t* src, std::uint16_t* dst, std::int64_t numel);
  void (*f16_to_bf16)(const std::uint16_t* src, std::uint16_t* dst, std::int64_t numel);
};

}  // namespace shoal::kernels::host
