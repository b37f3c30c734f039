#pragma once

#include <span>
#include <string>
#include <vector>

#include "shoal/runtime/fsdp/plan.h"
#include "shoal/runtime/fsdp/planner.h"

namespace shoal::fsdp {

struct PlanProof {
  int num_ops = 0;
  int num_gathers = 0;
  int num_reduces = 0;
  int num_waits = 0;
  std::int64_t num_conflicts_ordered = 0;  // pairs of conflicting accesses that were shown to be ordered
};

/// Proves one pass, given each rank's plan (normally one plan for all: pass it once). What operations touch and in
/// which order the host comes by them (list_accesses, enqueue_order) is what planning goes by too, and is tested on its
/// own against the device's happens-before check; everything else is derived anew: every use of a unit lies between its
/// gather and its release; conflicting accesses to the same bytes (leases, shards, sums) are ordered by stream order or
/// by a recorded and awaited event; no two leases that are held together share bytes; every recorded event is awaited
/// or final; every awaited event was recorded before; the joint graph over all ranks (stream order, communicator order,
/// events) has no cycle; the collective order is the same on every rank; collective counts equal the strategy's
/// formula. `trace` is empty for an update. Throws Internal,
/// "[plan_check] ...", naming operations, unit and rank of the first violation.
PlanProof check_plan(std::span<const Plan* const> ranks, const Trace& trace, const PlannerInput& input);

}  // namespace shoal::fsdp
