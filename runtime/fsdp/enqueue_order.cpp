#include "shoal/runtime/fsdp/enqueue_order.h"

namespace shoal::fsdp {

int EnqueueOrder::begin_of(const Plan& plan, int lease) const {
  const auto at = static_cast<std::size_t>(plan.leases[static_cast<std::size_t>(lease)].begin);
  return lease < plan.num_activation_leases ? of_event[at] : of_op[at];
}

int EnqueueOrder::end_of(const Plan& plan, int lease) const {
  const auto at = static_cast<std::size_t>(plan.leases[static_cast<std::size_t>(lease)].end);
  return lease < plan.num_activation_leases ? of_event[at] : of_op[at];
}

EnqueueOrder enqueue_order(const Plan& plan, const Trace& trace) {
  EnqueueOrder order;
  order.of_event.reserve(trace.events.size() + 1);
  order.of_op.reserve(plan.ops.size());
  int next = 0;
  const auto pass_events = [&](std::size_t end) {
    while (order.of_event.size() < end) order.of_event.push_back(next++);
  };
  for (const PlanOp& op : plan.ops) {
    const auto position = static_cast<std::size_t>(op.trace_position);
    if (op.kind != OpKind::PassBegin && is_mark(op.kind)) pass_events(position + 1);
    order.of_op.push_back(next++);
  }
  pass_events(trace.events.size() + 1);
  return order;
}

}  // namespace shoal::fsdp
