#include "shoal/nn/initial_values.h"

#include <fmt/format.h>

#include "shoal/kernels/fill.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/hash.h"

namespace shoal::nn {
void fill_initial(Stream& stream, const Parameter& parameter, std::uint64_t seed, std::int64_t first_element,
                  const Tensor& dst) {
  if (first_element < 0 || first_element > parameter.shape.numel() - dst.numel()) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[fill_initial] elements [{}, {} + {}) of '{}', which has {}", first_element, first_element,
                     dst.numel(), parameter.name, parameter.shape.numel()));
  }
  kernels::fill_random(stream,
                       {.kind = parameter.init.kind,
                        .scale = parameter.init.scale,
                        .seed = seed,
                        .sequence = hash_text(parameter.name),
                        .first_index = first_element},
                       dst);
}

}  // namespace shoal::nn
