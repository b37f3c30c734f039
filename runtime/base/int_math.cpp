#include "shoal/runtime/base/int_math.h"

#include <fmt/format.h>

#include "shoal/runtime/base/error.h"

namespace shoal {

std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[checked_mul] {} * {} does not fit a signed 64-bit integer; use smaller extents", a, b));
  }
  return product;
}

}  // namespace shoal
