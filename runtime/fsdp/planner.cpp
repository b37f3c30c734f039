#include "shoal/runtime/fsdp/planner.h"

#include <fmt/format.h>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/fsdp/pass_planner.h"
#include "shoal/runtime/fsdp/placement.h"
#include "shoal/runtime/fsdp/wait_reduction.h"

namespace shoal::fsdp {
namespace {

void check_input(const char* operation, const PlannerInput& input) {
  const Policies& policies = input.policies;
  if (policies.strategy != Strategy::None && policies.strategy != Strategy::Full) {
    fail(ErrorCode::Unsupported, fmt::format("[{}] strategy '{}' is not built yet; use none or full", operation,
                                             strategy_name(policies.strategy)));
  }
  if (policies.prefetch < 0) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[{}] prefetch is {}; it must be 0 or more units", operation, policies.prefetch));
  }
  if (input.world_size < 1) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[{}] the world size is {}; there must be at least one rank", operation, input.world_size));
  }
}

}  // namespace

Plan plan_pass(const Trace& trace, const PlannerInput& input) {
  check_input("plan_pass", input);
  Plan plan = order_pass(trace, input);
  place_leases(plan, trace);
  synchronize_plan(plan, trace, input.units);
  return plan;
}

Plan plan_update(const PlannerInput& input) {
  check_input("plan_update", input);
  Plan plan = order_update(input);
  synchronize_plan(plan, Trace{}, input.units);
  return plan;
}

}  // namespace shoal::fsdp
