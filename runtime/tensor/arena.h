#pragma once

#include <cstdint>

#include "shoal/runtime/device/device.h"

namespace shoal {

/// One block of a device's memory that a plan parcels out by offset. It counts towards the device's memory limit; what
/// lies in it is counted by tag by whoever places it.
class Arena {
 public:
  /// Throws OutOfMemory beyond the device's memory limit. 0 bytes make an empty arena.
  Arena(Device& device, std::int64_t bytes) : block_(device.reserve(bytes)) {}

  std::int64_t bytes() const { return block_.bytes(); }
  /// The address of byte `offset`. Throws Internal outside [0, bytes()].
  void* at(std::int64_t offset) const;

 private:
  Buffer block_;
};

}  // namespace shoal
