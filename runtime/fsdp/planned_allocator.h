#pragma once

#include <cstdint>
#include <vector>

#include "shoal/runtime/device/device.h"
#include "shoal/runtime/fsdp/lingering_allocator.h"
#include "shoal/runtime/fsdp/trace_cursor.h"
#include "shoal/runtime/tensor/arena.h"

namespace shoal::fsdp {

/// Hands out the places that a plan gave to activations and workspaces: the n-th acquisition of a pass gets the n-th
/// lease. Counts them in the device's ledger. A pass that acquires or gives back otherwise than it was traced throws
/// Unsupported: at the acquisition, or, where a lease was given back out of turn, at the next one or at the end. So no
/// bytes are ever handed out while somebody holds them.
class PlannedAllocator final : public LingeringAllocator {
 public:
  /// `cursor` follows the pass, here and in whatever else the plan depends on; both and `arena` must live as long as
  /// the owner.
  PlannedAllocator(Device& device, const Arena& arena, TraceCursor& cursor)
      : device_(&device), arena_(&arena), cursor_(&cursor) {}

  /// The pass that follows uses `plan`, from its first lease on. The cursor is there already.
  void begin(const Plan& plan);
  /// Throws Unsupported where something is held still, naming it, or was given back out of turn.
  void end();
  /// Takes back whatever is held, after an exception. It may still be given back later, to no effect.
  void drop_leases() noexcept;

 private:
  Leased lease(const Shape& shape, DType dtype, MemoryTag tag, const char* what) override;
  void give_back(std::int64_t id) noexcept override;
  void leave() noexcept override { drop_leases(); }
  void check_turn() const;

  Device* device_;
  const Arena* arena_;
  TraceCursor* cursor_;
  const Plan* plan_ = nullptr;
  std::vector<const char*> held_;  // what for, by lease; null: not held
  int next_ = 0;
  std::int64_t pass_ = 0;              // part of an id, so that leases of earlier passes are told from this one's
  const char* out_of_turn_ = nullptr;  // what was given back when it should not have been
};

}  // namespace shoal::fsdp
