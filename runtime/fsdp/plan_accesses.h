#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "shoal/runtime/fsdp/enqueue_order.h"
#include "shoal/runtime/fsdp/plan.h"
#include "shoal/runtime/fsdp/planner.h"

namespace shoal::fsdp {

/// Memory that operations of a pass share.
enum class Resource : std::uint8_t {
  Arena,           // bytes of leases
  Parameters,      // a flat parameter's values, as this rank keeps them: its shard, or all of them
  Gradients,       // its gradients, as this rank keeps them
  OptimizerState,  // its optimizer state
  Sums,            // loss, count and correct in the step block
  Control,         // the rest of the step block
  StagedState,     // observed statistics
  RunningState,    // running statistics
  NormWords,       // the exact sum of squares
};
std::string_view resource_name(Resource resource);

/// Bytes [begin, end) of a resource that an operation, or the model's own compute between two operations, touches.
struct Access {
  Resource resource = Resource::Arena;
  int flat = -1;   // whose parameters, gradients or state
  int lease = -1;  // in the arena
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool writes = false;
  StreamRole stream = StreamRole::Compute;
  int op = -1;             // -1: the model's own compute
  int trace_position = 0;  // of the model's own compute: before the event of this index (the first such place)
  // On its stream: it comes after everything that operation `starts_after` waits for, and a record of operation
  // `done_by` comes after it. Both are `op` for the accesses of operations.
  int starts_after = -1;
  int done_by = -1;
  // Its place, from the first to the last touch, in the enqueue order.
  int first = 0;
  int last = 0;
};

/// Same bytes, and at least one writes.
bool is_conflict(const Access& a, const Access& b);

/// Everything that a pass touches, accesses of no bytes left out. Needs trace positions, leases and their offsets;
/// where a parameter is used without a lease, the use is left out (the checker finds those).
std::vector<Access> list_accesses(const Plan& plan, const Trace& trace, const UnitTable& units,
                                  const EnqueueOrder& order);

/// Whether earlier passes may have touched, on other streams, what this operation touches. All do but AwaitReaders:
/// what it stands for is reads by peers of this rank's shards since their last version, which the gathers of this
/// pass's predecessor came before.
bool follows_earlier_passes(OpKind kind);

}  // namespace shoal::fsdp
