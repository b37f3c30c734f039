#include "shoal/runtime/tensor/arena.h"

#include <fmt/format.h>

#include "shoal/runtime/base/error.h"

namespace shoal {

void* Arena::at(std::int64_t offset) const {
  if (offset < 0 || offset > bytes()) {
    fail(ErrorCode::Internal, fmt::format("[arena] offset {} of an arena of {} bytes", offset, bytes()));
  }
  auto* base = static_cast<unsigned char*>(block_.data());
  return base == nullptr ? nullptr : base + offset;
}

}  // namespace shoal
