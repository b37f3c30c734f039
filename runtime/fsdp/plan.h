#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "shoal/runtime/device/memory_ledger.h"
#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/fsdp/policies.h"
#include "shoal/runtime/fsdp/units.h"

namespace shoal::fsdp {

/// Predict: a forward that leaves no loss.
enum class PassKind { Train, Evaluate, Predict, Update };

enum class OpKind : std::uint8_t {
  // Marks: the pass reaches this point; the executor enqueues everything up to here.
  PassBegin,
  EnterForward,
  ExitForward,
  ForwardEnd,
  EnterBackward,
  ExitBackward,
  PassEnd,
  // Leases of units.
  Gather,           // gather stream: all-gather the flat parameter's shards into the lease, which is held from here on
  ReleaseValues,    // compute: the gathered values are given back
  HoldGradients,    // compute: the reduce input is held from here on; nothing is written yet
  FinishGradients,  // compute: gradients that nothing wrote are zeroed
  Reduce,  // reduce stream: reduce-scatter the reduce input into the gradient shard (none: all-reduce in place)
  ReleaseGradients,  // the reduce input is given back, in the order of the reduce stream
  // Sums over ranks.
  ReduceSums,   // reduce stream: all-reduce loss, count and correct
  ReduceState,  // reduce stream: all-reduce the staged statistics
  UpdateState,  // compute: running statistics move
  // Update pass.
  GradientNorm,  // compute: adds the gradient shard's squares to the norm's words
  ReduceNorm,    // reduce stream: all-reduce the words (where shards differ between ranks)
  FinishNorm,    // compute: norm, clip factor, skip flag
  AwaitReaders,  // gather stream: peers have read this rank's shards (a forward pass ends with it too)
  Update,        // compute: the optimizer's rule on the owned slice
  Publish,       // compute: peers may gather the new version
};

/// "gather", "enter_forward", ...
std::string_view op_kind_name(OpKind kind);
bool is_mark(OpKind kind);

struct PlanOp {
  OpKind kind = OpKind::PassBegin;
  StreamRole stream = StreamRole::Compute;
  int unit = -1;
  int flat = -1;
  int lease = -1;
  int trace_position = 0;       // it is enqueued before the trace event of this index (marks: it is that event)
  std::vector<int> waits = {};  // events that its stream waits for first
  int records = -1;             // event recorded on its stream afterwards, or -1
};

/// Bytes of the arena held for an interval. A unit's lease is held from its first op to its release op; an activation's
/// from trace event to trace event.
struct Lease {
  MemoryTag tag = MemoryTag::Activations;
  std::int64_t bytes = 0;   // what is used; placement rounds up to kLeaseAlignment
  std::int64_t offset = 0;  // in the arena, a multiple of kLeaseAlignment
  int unit = -1;            // -1: an activation or workspace
  int flat = -1;
  int begin = 0;  // unit leases: op index of Gather or HoldGradients; otherwise trace event index of Acquire
  int end = 0;    // unit leases: op index of the release op; otherwise trace event index of Release (trace size: never)
};
inline constexpr std::int64_t kLeaseAlignment = 64;

/// The ordered operations of one pass on one rank; every rank's is the same.
struct Plan {
  PassKind kind = PassKind::Train;
  Strategy strategy = Strategy::Full;
  int world_size = 1;
  int num_events = 0;
  std::vector<PlanOp> ops;
  std::vector<Lease> leases;  // activations first: lease i < num_activation_leases is the trace's lease i
  int num_activation_leases = 0;
  std::int64_t arena_bytes = 0;
  std::vector<TraceEvent> steps;   // of the trace: leases, parameters and state buffers, in order; marks are in ops
  std::vector<int> staged_states;  // state buffers whose statistics this pass observes, by index

  /// Whether ranks hold shards only, so that units have leases.
  bool is_sharded() const { return shards_parameters(strategy, world_size); }
};

}  // namespace shoal::fsdp
