#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "shoal/runtime/device/device.h"
#include "shoal/runtime/tensor/tensor_allocator.h"

namespace shoal {

/// Leases straight from the device, for passes without a plan and for tests. A released block is kept and serves the
/// next lease of its size (rounded up to 64 bytes) at once: all users are enqueued on the one compute stream, whose
/// order protects it. Leases count in the ledger under their tags while held; kept blocks count towards the memory
/// limit only. Destroy it, and call `trim`, after the compute stream was synchronized.
class HeapAllocator final : public TensorAllocator {
 public:
  explicit HeapAllocator(Device& device) : device_(&device) {}
  ~HeapAllocator() override;
  HeapAllocator(const HeapAllocator&) = delete;
  HeapAllocator& operator=(const HeapAllocator&) = delete;

  /// Throws OutOfMemory, naming `what`, beyond the device's memory limit.
  Leased acquire(const Shape& shape, DType dtype, MemoryTag tag, const char* what) override;
  /// An id that is not held is ignored.
  void release(std::int64_t id) noexcept override;

  /// Gives the blocks that no lease holds back to the device.
  void trim();
  int num_held() const { return num_held_; }

 private:
  struct Block {
    Buffer memory;
    std::int64_t bytes = 0;  // counted in the ledger while held
    MemoryTag tag = MemoryTag::Activations;
    bool is_held = false;
  };

  std::size_t take_block(std::int64_t bytes, const char* what);

  Device* device_;
  std::vector<Block> blocks_;                                         // a lease's id is its index
  std::unordered_map<std::int64_t, std::vector<std::size_t>> spare_;  // by size: blocks not held
  std::vector<std::size_t> empty_;                                    // indices without memory
  int num_held_ = 0;
};

}  // namespace shoal
