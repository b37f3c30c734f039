#include "shoal/runtime/fsdp/wait_reduction.h"

#include <gtest/gtest.h>

#include "shoal/runtime/base/error.h"
#include "shoal/tests/support/plan_mutations.h"
#include "shoal/tests/support/plan_replay.h"

namespace shoal::test {
namespace {

using fsdp::Plan;

/// Two steps, with evaluations before, between and after them.
void replay_program(const PlanCase& planned, const Plan& train, const Plan& evaluate, const Plan& update) {
  PlanReplay replay(planned);
  for (const Plan* plan : {&train, &update, &train, &update, &evaluate, &evaluate, &train, &update, &evaluate}) {
    replay.run(*plan);
  }
}

std::string reported_hazard(const PlanCase& planned, const Plan& train, const Plan& evaluate, const Plan& update) {
  try {
    replay_program(planned, train, evaluate, update);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

/// Leaves out each wait of each plan in turn; returns how many there were.
int expect_each_wait_needed(const PlanCase& planned) {
  int num_waits = 0;
  Plan plans[] = {planned.train, planned.evaluate, planned.update};
  for (Plan& plan : plans) {
    const Plan whole = plan;
    for (std::size_t op = 0; op < whole.ops.size(); ++op) {
      for (std::size_t wait = 0; wait < whole.ops[op].waits.size(); ++wait, ++num_waits) {
        plan = without_wait(whole, op, wait);
        EXPECT_NE(reported_hazard(planned, plans[0], plans[1], plans[2]), "")
            << planned.name << ": " << fsdp::op_kind_name(whole.ops[op].kind) << " at " << op << ", wait " << wait;
      }
    }
    plan = whole;
  }
  return num_waits;
}

TEST(WaitReduction, AsPlanned_NoPassesOfAProgramConflict) {
  for (const auto& planned : make_plan_cases()) {
    EXPECT_EQ(reported_hazard(*planned, planned->train, planned->evaluate, planned->update), "") << planned->name;
  }
}

TEST(WaitReduction, AnyWaitLeftOut_IsAHazard) {
  int num_waits = 0;
  for (const auto& planned : make_plan_cases()) num_waits += expect_each_wait_needed(*planned);
  EXPECT_GT(num_waits, 200);
}

TEST(WaitReduction, RandomModels_AreFreeOfHazards_AndOfWaitsThatNobodyNeeds) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const PlanCase planned("seed " + std::to_string(seed), make_random(seed), 2 + static_cast<int>(seed % 3),
                           static_cast<int>(seed % 4));
    EXPECT_EQ(reported_hazard(planned, planned.train, planned.evaluate, planned.update), "") << planned.name;
    expect_each_wait_needed(planned);
  }
}

TEST(WaitReduction, Events_AreNumberedAsTheyAreRecorded_AndAllAwaited) {
  for (const auto& planned : make_plan_cases()) {
    for (const Plan* plan : {&planned->train, &planned->evaluate, &planned->update}) {
      Plan repaired = *plan;  // renumbers, and drops what nobody awaits
      repair_bookkeeping(repaired);
      EXPECT_EQ(repaired.num_events, plan->num_events) << planned->name;
      for (std::size_t i = 0; i < plan->ops.size(); ++i) EXPECT_EQ(repaired.ops[i].records, plan->ops[i].records);
    }
  }
}

TEST(WaitReduction, OneRank_NeedsNoEvent) {
  const PlanCase planned("one rank", make_with_state(), 1);
  EXPECT_EQ(planned.train.num_events, 0);
  EXPECT_EQ(planned.update.num_events, 0);
}

TEST(WaitReduction, LeasesHeldTogetherInOnePlace_CannotBeOrdered) {
  PlanCase planned("one place", make_chain(2, 100), 2, 0);
  Plan plan = planned.train;
  for (fsdp::PlanOp& op : plan.ops) {
    op.waits.clear();
    op.records = -1;
  }
  plan.num_events = 0;
  // All leases in one place: the activations of compute lie where the gather stream writes at the same time.
  for (fsdp::Lease& lease : plan.leases) lease.offset = 0;
  EXPECT_THROW(fsdp::synchronize_plan(plan, planned.train_trace, planned.units), Error);
}

}  // namespace
}  // namespace shoal::test
