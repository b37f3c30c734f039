#pragma once

#include <cstdint>

#include "shoal/nn/parameter.h"
#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::nn {

/// dst[i] = the initial value of element first_element + i of `parameter`, drawn as parameter.init says: a pure
/// function of (seed, parameter name, global element), the same for any split into calls and any sharding. dst: F32,
/// any shape. Throws InvalidArgument where the elements are not the parameter's.
void fill_initial(Stream& stream, const Parameter& parameter, std::uint64_t seed, std::int64_t first_element,
                  const Tensor& dst);

}  // namespace shoal::nn
