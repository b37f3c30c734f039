#pragma once

#include <string>

#include "shoal/runtime/fsdp/plan.h"
#include "shoal/runtime/fsdp/planner.h"

namespace shoal::fsdp {

/// The plan as text for people: one line per operation with stream, unit, bytes, lease range, awaited and recorded
/// events, indented by stream role. Stable: golden tests compare it.
std::string print_plan(const Plan& plan, const UnitTable& units);

}  // namespace shoal::fsdp
