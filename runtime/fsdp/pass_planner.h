#pragma once

#include "shoal/runtime/fsdp/plan.h"
#include "shoal/runtime/fsdp/planner.h"

namespace shoal::fsdp {

/// The operations of a pass and its leases, in order; neither placed nor synchronised yet.
Plan order_pass(const Trace& trace, const PlannerInput& input);

/// The operations of the optimizer's pass in order, not synchronised yet.
Plan order_update(const PlannerInput& input);

}  // namespace shoal::fsdp
