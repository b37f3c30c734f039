#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shoal/runtime/fsdp/plan.h"
#include "shoal/runtime/fsdp/planner.h"
#include "shoal/tests/support/synthetic_trace.h"

namespace shoal::test {

/// A synthetic model with policies, and its plans.
class PlanCase {
 public:
  PlanCase(std::string name, const SyntheticModel& model, int world_size, int prefetch = 1,
           fsdp::Strategy strategy = fsdp::Strategy::Full);
  PlanCase(const PlanCase&) = delete;
  PlanCase& operator=(const PlanCase&) = delete;

  fsdp::PlannerInput input() const { return {model, units, policies, world_size}; }
  const fsdp::Trace& trace_of(const fsdp::Plan& plan) const;
  /// The unit whose name this is.
  int unit(const std::string& unit_name) const;

  std::string name;
  fsdp::ModelSpec model;
  fsdp::Policies policies;
  int world_size;
  fsdp::Trace train_trace, evaluate_trace, no_trace;
  fsdp::UnitTable units;
  fsdp::Plan train, evaluate, update;
};

/// Two stages of two blocks each, with parameters of their own that they use before and after their blocks.
SyntheticModel make_nested();
/// Frozen units before trainable ones, and one with parameters of both classes.
SyntheticModel make_partly_frozen();
/// Units whose values no backward reads, beside ordinary ones.
SyntheticModel make_without_backward_reads();
/// A unit that is not recorded, one that is never entered, and a parameter that nothing uses.
SyntheticModel make_partly_unreached();
/// A chain with state buffers.
SyntheticModel make_with_state();

/// A random tree of units with random parameters (some frozen, some unused, some empty), activations and workspaces.
SyntheticModel make_random(std::uint32_t seed);

/// One of each kind of model, over worlds 1 to 4 and prefetch 0 to 3.
std::vector<std::unique_ptr<PlanCase>> make_plan_cases();

}  // namespace shoal::test
