#pragma once

#include <vector>

#include "shoal/runtime/fsdp/planner.h"

namespace shoal::fsdp {

/// Where a trace enters and leaves a unit's module; -1: it never does.
struct UnitCall {
  int enter_forward = -1;
  int exit_forward = -1;
  int enter_backward = -1;
  int exit_backward = -1;
};

/// What planning needs of a trace.
struct PassOutline {
  std::vector<UnitCall> calls;       // by unit
  std::vector<char> reads_forward;   // by flat parameter: an operation of the forward reads its values
  std::vector<char> reads_backward;  // by flat parameter: an operation of the backward does
  int forward_end = -1;
};

/// Throws Unsupported, naming the unit, for a unit that is called twice and for a parameter that is used while its
/// unit is not entered.
PassOutline outline_pass(const Trace& trace, const PlannerInput& input);

}  // namespace shoal::fsdp
