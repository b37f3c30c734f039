#include "shoal/runtime/fsdp/plan_cost.h"

#include <algorithm>

#include "shoal/runtime/base/dtype.h"
#include "shoal/runtime/fsdp/enqueue_order.h"

namespace shoal::fsdp {
namespace {

constexpr std::int64_t kSumsBytes = 3 * static_cast<std::int64_t>(sizeof(double));

}  // namespace

void add_bytes(MemoryBytes& bytes, MemoryTag tag, std::int64_t more) {
  bytes.by_tag[static_cast<std::size_t>(tag)] += more;
  bytes.total += more;
}

std::int64_t staged_numel(const Plan& plan, const ModelSpec& model) {
  std::int64_t numel = 0;
  for (const int buffer : plan.staged_states) numel += model.state_buffers[static_cast<std::size_t>(buffer)];
  return numel;
}

MemoryBytes lease_peak(const Plan& plan, const Trace& trace) {
  struct Change {
    int place;
    bool acquires;
    int lease;
  };
  const EnqueueOrder order = enqueue_order(plan, trace);
  std::vector<Change> changes;
  for (std::size_t i = 0; i < plan.leases.size(); ++i) {
    const int lease = static_cast<int>(i);
    changes.push_back({order.begin_of(plan, lease), true, lease});
    changes.push_back({order.end_of(plan, lease), false, lease});
  }
  // Only leases that nothing gives back end at the same place (the end).
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return a.place != b.place ? a.place < b.place : a.lease < b.lease;
  });
  MemoryLedger ledger;
  for (const Change& change : changes) {
    const Lease& lease = plan.leases[static_cast<std::size_t>(change.lease)];
    if (change.acquires) {
      ledger.acquire(lease.tag, lease.bytes);
    } else {
      ledger.release(lease.tag, lease.bytes);
    }
  }
  return ledger.peak();
}

MemoryBytes predict_peak(const MemoryBytes& persistent, std::span<const MemoryBytes> lease_peaks) {
  MemoryBytes highest;
  for (const MemoryBytes& peak : lease_peaks) {
    for (std::size_t tag = 0; tag < highest.by_tag.size(); ++tag) {
      highest.by_tag[tag] = std::max(highest.by_tag[tag], peak.by_tag[tag]);
    }
    highest.total = std::max(highest.total, peak.total);
  }
  MemoryBytes predicted = persistent;
  for (std::size_t tag = 0; tag < highest.by_tag.size(); ++tag) predicted.by_tag[tag] += highest.by_tag[tag];
  predicted.total += highest.total;
  return predicted;
}

MemoryBytes persistent_model_bytes(const UnitTable& units, Strategy strategy, int world_size,
                                   std::int64_t state_bytes_per_element) {
  const bool is_sharded = shards_parameters(strategy, world_size);
  MemoryBytes bytes;
  for (const FlatParameter& flat : units.flats) {
    const std::int64_t numel = is_sharded ? flat.layout.shard_numel : flat.layout.full_numel();
    add_bytes(bytes, MemoryTag::Parameters, numel * dtype_bytes(DType::F32));
    if (!flat.is_trainable) continue;
    add_bytes(bytes, MemoryTag::Gradients, numel * dtype_bytes(DType::F32));
    add_bytes(bytes, MemoryTag::OptimizerState, numel * state_bytes_per_element);
  }
  return bytes;
}

WireBytes wire_bytes(const Plan& plan, const UnitTable& units, const ModelSpec& model) {
  const std::int64_t peers = plan.world_size - 1;
  const auto all_reduced = [&](std::int64_t bytes) { return 2 * peers * bytes / plan.world_size; };
  const auto layout = [&](const PlanOp& op) -> const FlatLayout& {
    return units.flats[static_cast<std::size_t>(op.flat)].layout;
  };
  WireBytes wire;
  for (const PlanOp& op : plan.ops) {
    switch (op.kind) {
      case OpKind::Gather:
        wire.gathered += peers * layout(op).shard_numel * dtype_bytes(DType::F32);
        break;
      case OpKind::Reduce:
        wire.reduced += plan.is_sharded() ? peers * layout(op).shard_numel * dtype_bytes(DType::F32)
                                          : all_reduced(layout(op).full_numel() * dtype_bytes(DType::F32));
        break;
      case OpKind::ReduceSums:
        wire.sums += all_reduced(kSumsBytes);
        break;
      case OpKind::ReduceState:
        wire.sums += all_reduced(staged_numel(plan, model) * dtype_bytes(DType::F32));
        break;
      case OpKind::ReduceNorm:
        wire.sums += all_reduced(kNormWordsBytes);
        break;
      default:  // nothing is sent
        break;
    }
  }
  return wire;
}

}  // namespace shoal::fsdp
