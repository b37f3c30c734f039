#include "shoal/runtime/device/byte_range.h"

#include <fmt/format.h>

#include "shoal/runtime/base/error.h"

namespace shoal {

void ByteRanges::add(ByteRange range) {
  if (range.bytes <= 0) return;
  if (count_ == kCapacity) {
    fail(ErrorCode::Internal,
         fmt::format("[byte_ranges] an operation declares more than {} ranges; declare one that covers several",
                     kCapacity));
  }
  ranges_[static_cast<std::size_t>(count_++)] = range;
}

}  // namespace shoal
