#include "shoal/runtime/fsdp/plan_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/fsdp/plan_check_parts.h"

namespace shoal::fsdp {
namespace {

int count_ops(const Plan& plan, OpKind kind) {
  return static_cast<int>(
      std::count_if(plan.ops.begin(), plan.ops.end(), [&](const PlanOp& op) { return op.kind == kind; }));
}

}  // namespace

std::string PlanSubject::describe(int i) const {
  const PlanOp& described = op(i);
  if (described.unit < 0) return fmt::format("operation {} ({})", i, op_kind_name(described.kind));
  // What is described may be what is wrong.
  if (described.unit >= static_cast<int>(input.units.units.size())) {
    return fmt::format("operation {} ({} of unit {}, which there is not)", i, op_kind_name(described.kind),
                       described.unit);
  }
  return fmt::format("operation {} ({} of '{}')", i, op_kind_name(described.kind), unit(described.unit).name);
}

void PlanSubject::reject(const std::string& violation) const {
  throw Error(ErrorCode::Internal, fmt::format("[plan_check] rank {}: {}", rank, violation), rank);
}

bool is_collective(OpKind kind) {
  switch (kind) {
    case OpKind::Gather:
    case OpKind::Reduce:
    case OpKind::ReduceSums:
    case OpKind::ReduceState:
    case OpKind::ReduceNorm:
    case OpKind::AwaitReaders:
      return true;
    default:
      return false;
  }
}

PlanProof check_plan(std::span<const Plan* const> ranks, const Trace& trace, const PlannerInput& input) {
  if (ranks.size() != 1 && ranks.size() != static_cast<std::size_t>(input.world_size)) {
    fail(ErrorCode::InvalidArgument, fmt::format("[plan_check] {} plans for {} ranks; pass one, or one for each rank",
                                                 ranks.size(), input.world_size));
  }
  std::vector<PlanSubject> subjects;
  for (std::size_t r = 0; r < ranks.size(); ++r) subjects.push_back({*ranks[r], trace, input, static_cast<int>(r)});
  for (const PlanSubject& subject : subjects) {
    check_structure(subject);
    check_events(subject);
  }
  check_same_collectives(subjects);
  check_no_cycle(subjects);
  PlanProof proof;
  for (std::size_t r = 0; r < subjects.size(); ++r) {
    if (std::find(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(r), ranks[r]) !=
        ranks.begin() + static_cast<std::ptrdiff_t>(r)) {
      continue;  // proved already
    }
    const EnqueueOrder order = enqueue_order(subjects[r].plan, trace);
    check_leases(subjects[r], order);
    check_uses(subjects[r], order);
    check_counts(subjects[r]);
    proof.num_conflicts_ordered = check_conflicts(subjects[r], order);
  }
  const Plan& plan = *ranks.front();
  proof.num_ops = static_cast<int>(plan.ops.size());
  proof.num_gathers = count_ops(plan, OpKind::Gather);
  proof.num_reduces = count_ops(plan, OpKind::Reduce);
  for (const PlanOp& op : plan.ops) proof.num_waits += static_cast<int>(op.waits.size());
  return proof;
}

}  // namespace shoal::fsdp
