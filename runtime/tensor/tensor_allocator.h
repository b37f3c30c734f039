#pragma once

#include <cstdint>

#include "shoal/runtime/device/memory_ledger.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal {

/// Memory for what a pass makes on the way: activations, their gradients, workspaces. Acquire and release happen on the
/// rank's thread in the order in which the pass is enqueued on the compute stream, so bytes released may be handed out
/// again at once: the stream's order protects them.
class TensorAllocator {
 public:
  virtual ~TensorAllocator() = default;

  struct Leased {
    Tensor tensor;
    std::int64_t id = -1;
  };

  /// Contents are undefined. `what` names it in messages and must be a literal.
  virtual Leased acquire(const Shape& shape, DType dtype, MemoryTag tag, const char* what) = 0;
  virtual void release(std::int64_t id) noexcept = 0;
};

}  // namespace shoal
