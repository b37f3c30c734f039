#include "shoal/runtime/fsdp/planned_allocator.h"

#include <fmt/core.h>

#include "shoal/runtime/base/error.h"

namespace shoal::fsdp {

void PlannedAllocator::begin(const Plan& plan) {
  plan_ = &plan;
  next_ = 0;
}

TensorAllocator::Leased PlannedAllocator::acquire(const Shape& shape, DType dtype, MemoryTag tag, const char* what) {
  const std::int64_t bytes = shape.numel() * dtype_bytes(dtype);
  if (next_ >= plan_->num_activation_leases) {
    fail(ErrorCode::Unsupported,
         fmt::format(
             "[{}] this pass acquires more memory than when it was traced ({} leases); a forward must do the same "
             "on every call with the same shapes",
             what, plan_->num_activation_leases));
  }
  const Lease& lease = plan_->leases[static_cast<std::size_t>(next_)];
  if (lease.bytes != bytes || lease.tag != tag) {
    fail(ErrorCode::Unsupported,
         fmt::format(
             "[{}] lease {} of this pass is {} bytes of {}, but {} bytes of {} when it was traced; a forward must do "
             "the same on every call with the same shapes",
             what, next_, bytes, memory_tag_name(tag), lease.bytes, memory_tag_name(lease.tag)));
  }
  device_.ledger().acquire(tag, bytes);
  return {Tensor(arena_.at(lease.offset), shape, dtype), next_++};
}

void PlannedAllocator::release(std::int64_t id) noexcept {
  const Lease& lease = plan_->leases[static_cast<std::size_t>(id)];
  device_.ledger().release(lease.tag, lease.bytes);
}

}  // namespace shoal::fsdp
