#pragma once

#include "shoal/runtime/fsdp/plan.h"
#include "shoal/runtime/fsdp/policies.h"
#include "shoal/runtime/fsdp/trace.h"
#include "shoal/runtime/fsdp/units.h"

namespace shoal::fsdp {

struct PlannerInput {
  const ModelSpec& model;
  const UnitTable& units;
  const Policies& policies;
  int world_size = 1;
};

/// Plans a training pass (a trace with a backward), an evaluation (without) or a prediction (without a loss). Pure, and
/// the same on every rank.
///
/// Every pass forks and joins: whatever another stream does comes after PassBegin, hence after earlier passes; at
/// PassEnd the compute stream has waited for everything that other streams did. Waits that others imply are left out:
/// each one that is there is needed. Strategies none and full; the others throw Unsupported by name. At world size 1
/// nothing is sent: values and gradients are the persistent flat parameters themselves, as under `none`.
Plan plan_pass(const Trace& trace, const PlannerInput& input);

/// Plans the optimizer's pass over the gradient shards.
Plan plan_update(const PlannerInput& input);

}  // namespace shoal::fsdp
