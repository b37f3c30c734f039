#pragma once

#include "shoal/runtime/fsdp/plan.h"
#include "shoal/runtime/fsdp/trace.h"
#include "shoal/runtime/fsdp/units.h"

namespace shoal::fsdp {

/// Writes the waits and records of a placed plan: the fewest that order all conflicting accesses of different streams
/// as they come in the enqueue order, and fork and join the streams. Events are recorded as early and awaited as late
/// as the conflict allows, and left out where stream order and other waits imply them (exact transitive reduction).
/// Throws Internal where no operation lies between two conflicting accesses.
void synchronize_plan(Plan& plan, const Trace& trace, const UnitTable& units);

}  // namespace shoal::fsdp
