#pragma once

#include <cstdint>

#include "shoal/runtime/device/device.h"
#include "shoal/runtime/fsdp/plan.h"
#include "shoal/runtime/tensor/arena.h"
#include "shoal/runtime/tensor/tensor_allocator.h"

namespace shoal::fsdp {

/// Hands out the places that a plan gave to activations and workspaces: the n-th acquisition of a pass gets the n-th
/// lease. Counts them in the device's ledger. A pass that acquires otherwise than it was traced throws Unsupported,
/// naming both.
class PlannedAllocator final : public TensorAllocator {
 public:
  PlannedAllocator(Device& device, Arena& arena) : device_(device), arena_(arena) {}

  /// The pass that follows uses `plan`, from its first lease on.
  void begin(const Plan& plan);

  Leased acquire(const Shape& shape, DType dtype, MemoryTag tag, const char* what) override;
  void release(std::int64_t id) noexcept override;

 private:
  Device& device_;
  Arena& arena_;
  const Plan* plan_ = nullptr;
  std::int64_t next_ = 0;
};

}  // namespace shoal::fsdp
