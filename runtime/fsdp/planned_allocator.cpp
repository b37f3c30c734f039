#include "shoal/runtime/fsdp/planned_allocator.h"

#include <fmt/core.h>

#include "shoal/runtime/base/error.h"

namespace shoal::fsdp {
namespace {

constexpr int kLeaseBits = 32;
constexpr std::int64_t kLeaseMask = (std::int64_t{1} << kLeaseBits) - 1;

}  // namespace

void PlannedAllocator::begin(const Plan& plan) {
  plan_ = &plan;
  held_.assign(static_cast<std::size_t>(plan.num_activation_leases), nullptr);
  next_ = 0;
  ++pass_;
  out_of_turn_ = nullptr;
}

void PlannedAllocator::end() {
  check_turn();
  for (const char* what : held_) refuse_held(what);
}

void PlannedAllocator::drop_leases() noexcept {
  for (std::size_t i = 0; i < held_.size(); ++i) {
    if (held_[i] != nullptr) device_->ledger().release(plan_->leases[i].tag, plan_->leases[i].bytes);
    held_[i] = nullptr;
  }
  ++pass_;
}

void PlannedAllocator::check_turn() const {
  if (out_of_turn_ == nullptr) return;
  fail(ErrorCode::Unsupported, fmt::format("[{}] its memory was given back earlier or later than when the pass was "
                                           "traced; a forward must do the same on every call with the same shapes",
                                           out_of_turn_));
}

TensorAllocator::Leased PlannedAllocator::lease(const Shape& shape, DType dtype, MemoryTag tag, const char* what) {
  check_turn();
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
  if (!cursor_->follow(TraceKind::Acquire, next_)) {
    fail(
        ErrorCode::Unsupported,
        fmt::format("[{}] this pass acquires lease {} before it has used or given back what it had when it was traced; "
                    "a forward must do the same on every call with the same shapes",
                    what, next_));
  }
  device_->ledger().acquire(tag, bytes);
  held_[static_cast<std::size_t>(next_)] = what;
  return {Tensor(arena_->at(lease.offset), shape, dtype), (pass_ << kLeaseBits) | next_++};
}

void PlannedAllocator::give_back(std::int64_t id) noexcept {
  if ((id >> kLeaseBits) != pass_) return;  // of a pass that was given up
  const auto index = static_cast<std::size_t>(id & kLeaseMask);
  const Lease& lease = plan_->leases[index];
  device_->ledger().release(lease.tag, lease.bytes);
  const char* what = std::exchange(held_[index], nullptr);
  if (!cursor_->follow(TraceKind::Release, static_cast<int>(index)) && out_of_turn_ == nullptr) out_of_turn_ = what;
}

}  // namespace shoal::fsdp
