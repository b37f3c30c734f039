#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shoal/runtime/fsdp/enqueue_order.h"
#include "shoal/runtime/fsdp/plan.h"
#include "shoal/runtime/fsdp/planner.h"

namespace shoal::fsdp {

/// One rank's plan under proof.
struct PlanSubject {
  const Plan& plan;
  const Trace& trace;
  const PlannerInput& input;
  int rank = 0;

  const PlanOp& op(int i) const { return plan.ops[static_cast<std::size_t>(i)]; }
  const FlatParameter& flat(int f) const { return input.units.flats[static_cast<std::size_t>(f)]; }
  const Unit& unit(int u) const { return input.units.units[static_cast<std::size_t>(u)]; }
  /// "operation 12 (reduce of 'blocks.3')".
  std::string describe(int op) const;
  /// Throws Internal, "[plan_check] rank 0: ...".
  [[noreturn]] void reject(const std::string& violation) const;
};

/// Is a message or a meeting of all ranks, issued in one order everywhere.
bool is_collective(OpKind kind);

/// Operations are of the pass and the strategy, on their streams; marks are the trace's; whatever belongs to a mark
/// follows it. Everything else relies on it.
void check_structure(const PlanSubject& subject);

/// Every event is recorded once, in order of number, awaited only later, and by somebody.
void check_events(const PlanSubject& subject);

/// Leases are the trace's and the units', each acquired and given back once, in the arena; none that are held together
/// share bytes.
void check_leases(const PlanSubject& subject, const EnqueueOrder& order);

/// Values are gathered where operations read them and gradients held where they are written; gradients are finished,
/// reduced and given back in this order; at most `prefetch` leaf units are gathered ahead.
void check_uses(const PlanSubject& subject, const EnqueueOrder& order);

/// As many operations of each kind for each flat parameter as the strategy's formula says.
void check_counts(const PlanSubject& subject);

/// Conflicting accesses of different streams are ordered by events, forks and joins included. Returns how many pairs.
std::int64_t check_conflicts(const PlanSubject& subject, const EnqueueOrder& order);

/// All ranks issue the same collectives in the same order.
void check_same_collectives(std::span<const PlanSubject> ranks);

/// Stream order, the order of one communicator for all collectives, and events leave no circle of operations that wait
/// for each other across ranks. (Where all ranks have one plan, one rank stands for all: a circle over ranks would be
/// a circle in it.)
void check_no_cycle(std::span<const PlanSubject> ranks);

}  // namespace shoal::fsdp
