#pragma once

#include "shoal/kernels/host/isa/vector.h"

// Elementwise loops. A tail shorter than 16 goes through the same function in a zero-padded vector, so an element's
// bits do not depend on where in the range it lies. An output may be one of the inputs: a block is loaded before it is
// stored.

namespace shoal::kernels::host::SHOAL_ISA {

/// y[i] = fn(a[i]...).
template <typename Fn, typename... In>
[[gnu::always_inline]] inline void map_to(float* y, std::int64_t numel, Fn fn, const In*... a) {
  std::int64_t i = 0;
  for (; i + kLanes <= numel; i += kLanes) store(y + i, fn(load(a + i)...));
  if (i < numel) store_partial(y + i, fn(load_partial(a + i, numel - i)...), numel - i);
}

/// y[i] = fn(a[i]...), or y[i] + fn(a[i]...).
template <typename Fn, typename... In>
[[gnu::always_inline]] inline void map_into(float* y, bool accumulate, std::int64_t numel, Fn fn, const In*... a) {
  if (!accumulate) {
    map_to(y, numel, fn, a...);
    return;
  }
  map_to(
      y, numel, [fn](const Lanes& old, const auto&... in) __attribute__((always_inline)) { return old + fn(in...); },
      static_cast<const float*>(y), a...);
}

}  // namespace shoal::kernels::host::SHOAL_ISA
