#pragma once

#include <memory>

#include "shoal/runtime/device/runtime.h"

namespace shoal {

/// Rank `rank`'s CUDA device; in a build without the CUDA backend it throws Unsupported, saying how to get it.
std::unique_ptr<Device> make_cuda_device(const RuntimeOptions& options, int rank);

}  // namespace shoal
