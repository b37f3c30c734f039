#pragma once

#include <memory>

#include "shoal/runtime/tensor/tensor_allocator.h"

namespace shoal::fsdp {

/// An allocator that stays as long as somebody holds a lease of it. Leases are for one pass, but a module may keep a
/// variable by mistake, and it may live longer than whoever runs passes: giving back what it holds then does nothing.
class LingeringAllocator : public TensorAllocator {
 public:
  Leased acquire(const Shape& shape, DType dtype, MemoryTag tag, const char* what) final {
    const Leased leased = lease(shape, dtype, tag, what);
    ++num_held_;
    return leased;
  }

  void release(std::int64_t id) noexcept final {
    --num_held_;
    if (!is_left_) return give_back(id);
    if (num_held_ == 0) delete this;
  }

  /// What the owner does instead of deleting it.
  struct Leave {
    void operator()(LingeringAllocator* allocator) const noexcept {
      allocator->leave();
      allocator->is_left_ = true;
      if (allocator->num_held_ == 0) delete allocator;
    }
  };

 protected:
  LingeringAllocator() = default;

  /// Throws Unsupported for a lease that is still held at the end of a pass, unless `what` is null.
  static void refuse_held(const char* what);

 private:
  virtual Leased lease(const Shape& shape, DType dtype, MemoryTag tag, const char* what) = 0;
  virtual void give_back(std::int64_t id) noexcept = 0;
  /// The owner goes: lets go of everything that goes with it.
  virtual void leave() noexcept = 0;

  std::int64_t num_held_ = 0;
  bool is_left_ = false;
};

/// Owns one; make it with `new`.
template <typename Allocator>
using Lingering = std::unique_ptr<Allocator, LingeringAllocator::Leave>;

}  // namespace shoal::fsdp
