#pragma once

#include <bit>
#include <cstdint>

#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

// Scratch that the caller provides as U8 at any address. Its users keep floats on cache lines in it.

/// What to ask for when `numel` floats are needed: room to move up to the next cache line. 0 for 0.
std::int64_t workspace_bytes_for(std::int64_t numel);

/// Throws InvalidArgument unless `workspace` is U8 of at least `wanted_bytes`; may be none where that is 0.
void check_workspace(const char* op, const Tensor& workspace, std::int64_t wanted_bytes);

/// The first cache line in `workspace`.
inline float* workspace_floats(const Tensor& workspace) {
  const auto address = std::bit_cast<std::uintptr_t>(workspace.data());
  return std::bit_cast<float*>((address + 63) / 64 * 64);
}

}  // namespace shoal::kernels
