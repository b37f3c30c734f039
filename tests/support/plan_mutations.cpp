#include "shoal/tests/support/plan_mutations.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace shoal::test {
namespace {

using fsdp::OpKind;
using fsdp::Plan;
using fsdp::PlanOp;

void repair_events(Plan& plan) {
  std::set<int> recorded, awaited;
  for (const PlanOp& op : plan.ops) {
    if (op.records >= 0) recorded.insert(op.records);
  }
  for (PlanOp& op : plan.ops) {
    std::erase_if(op.waits, [&](int event) { return !recorded.contains(event); });
    awaited.insert(op.waits.begin(), op.waits.end());
  }
  std::map<int, int> number;
  for (PlanOp& op : plan.ops) {
    if (op.records < 0) continue;
    if (!awaited.contains(op.records)) {
      op.records = -1;
      continue;
    }
    const int next = static_cast<int>(number.size());
    op.records = number[op.records] = next;
  }
  for (PlanOp& op : plan.ops) {
    for (int& event : op.waits) event = number.at(event);
  }
  plan.num_events = static_cast<int>(number.size());
}

}  // namespace

void repair_bookkeeping(Plan& plan) {
  repair_events(plan);
  int position = 0;
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    PlanOp& op = plan.ops[i];
    if (fsdp::is_mark(op.kind)) {
      position = op.kind == OpKind::PassBegin ? 0 : op.trace_position + 1;
    } else {
      op.trace_position = position;
    }
    if (op.lease < 0) continue;
    fsdp::Lease& lease = plan.leases[static_cast<std::size_t>(op.lease)];
    const auto index = static_cast<int>(i);
    if (op.kind == OpKind::Gather || op.kind == OpKind::HoldGradients) lease.begin = index;
    if (op.kind == OpKind::ReleaseValues || op.kind == OpKind::ReleaseGradients) lease.end = index;
  }
}

Plan without_wait(const Plan& plan, std::size_t op, std::size_t wait) {
  Plan mutant = plan;
  std::vector<int>& waits = mutant.ops[op].waits;
  waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(wait));
  repair_bookkeeping(mutant);
  return mutant;
}

Plan without_op(const Plan& plan, std::size_t op) {
  Plan mutant = plan;
  mutant.ops.erase(mutant.ops.begin() + static_cast<std::ptrdiff_t>(op));
  repair_bookkeeping(mutant);
  return mutant;
}

Plan with_swapped(const Plan& plan, std::size_t op) {
  Plan mutant = plan;
  std::swap(mutant.ops[op], mutant.ops[op + 1]);
  repair_bookkeeping(mutant);
  return mutant;
}

Plan with_moved(const Plan& plan, std::size_t from, std::size_t to) {
  Plan mutant = plan;
  const auto begin = mutant.ops.begin();
  const auto at = begin + static_cast<std::ptrdiff_t>(from);
  const auto target = begin + static_cast<std::ptrdiff_t>(to);
  if (from < to) {
    std::rotate(at, at + 1, target + 1);
  } else {
    std::rotate(target, at, at + 1);
  }
  repair_bookkeeping(mutant);
  return mutant;
}

Plan with_duplicate(const Plan& plan, std::size_t op) {
  Plan mutant = plan;
  PlanOp copy = plan.ops[op];
  copy.records = -1;
  mutant.ops.insert(mutant.ops.begin() + static_cast<std::ptrdiff_t>(op) + 1, copy);
  repair_bookkeeping(mutant);
  return mutant;
}

}  // namespace shoal::test
