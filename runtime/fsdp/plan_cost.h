#pragma once

#include <cstdint>
#include <span>

#include "shoal/runtime/base/exact_sum.h"
#include "shoal/runtime/device/memory_ledger.h"
#include "shoal/runtime/fsdp/plan.h"
#include "shoal/runtime/fsdp/planner.h"

namespace shoal::fsdp {

/// Bytes of the exact sum of squares that the gradient norm is taken from.
inline constexpr std::int64_t kNormWordsBytes = ExactSum::kWords * static_cast<std::int64_t>(sizeof(std::int64_t));

/// Peak of the leases of one pass by tag and in total, walking acquisitions and releases in the order in which they are
/// enqueued: what the device's ledger will count.
MemoryBytes lease_peak(const Plan& plan, const Trace& trace);

/// Adds to one tag and to the total.
void add_bytes(MemoryBytes& bytes, MemoryTag tag, std::int64_t more);

/// Peak of a program that holds `persistent` throughout and runs passes with these peaks one after the other.
MemoryBytes predict_peak(const MemoryBytes& persistent, std::span<const MemoryBytes> lease_peaks);

/// Weights, gradients and optimizer state of one rank under a strategy, none or full; `state_bytes_per_element` is what
/// the optimizer keeps per element (8 bytes for Adam). Frozen flat parameters have neither gradient nor state.
MemoryBytes persistent_model_bytes(const UnitTable& units, Strategy strategy, int world_size,
                                   std::int64_t state_bytes_per_element);

/// Elements of the state buffers whose statistics a pass observes.
std::int64_t staged_numel(const Plan& plan, const ModelSpec& model);

/// Bytes that one rank sends (or receives, whichever is more) in one pass.
struct WireBytes {
  std::int64_t gathered = 0;
  std::int64_t reduced = 0;
  std::int64_t sums = 0;
};
WireBytes wire_bytes(const Plan& plan, const UnitTable& units, const ModelSpec& model);

}  // namespace shoal::fsdp
