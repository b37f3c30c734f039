#pragma once

#include <vector>

#include "shoal/runtime/fsdp/plan.h"
#include "shoal/runtime/fsdp/trace.h"

namespace shoal::fsdp {

/// One order of a pass's trace events and operations: that in which the host comes by them. The operations that follow
/// a mark come directly after the mark's trace event; what the model computes between two events comes just before the
/// second.
struct EnqueueOrder {
  std::vector<int> of_event;  // by trace position; one more than there are events, for the end
  std::vector<int> of_op;

  /// When a lease is acquired and when it is given back.
  int begin_of(const Plan& plan, int lease) const;
  int end_of(const Plan& plan, int lease) const;
};

EnqueueOrder enqueue_order(const Plan& plan, const Trace& trace);

}  // namespace shoal::fsdp
