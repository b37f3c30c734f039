#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/fsdp/plan_check.h"
#include "shoal/tests/support/plan_mutations.h"
#include "shoal/tests/support/plan_replay.h"

namespace shoal::test {
namespace {

using fsdp::Plan;

bool is_accepted(const PlanCase& planned, const Plan& plan) {
  const Plan* one = &plan;
  try {
    fsdp::check_plan({&one, 1}, planned.trace_of(plan), planned.input());
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Two steps with the given training plan.
std::string hazard_of(const PlanCase& planned, const Plan& train) {
  try {
    PlanReplay replay(planned);
    for (const Plan* plan : {&train, &planned.update, &train, &planned.update, &planned.evaluate}) replay.run(*plan);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

struct Verdicts {
  int accepted = 0;
  int rejected = 0;
};

/// Whatever the checker proves must be free of hazards when it is played.
void expect_agreement(const PlanCase& planned, const Plan& mutant, Verdicts& verdicts) {
  if (!is_accepted(planned, mutant)) {
    ++verdicts.rejected;
    return;
  }
  ++verdicts.accepted;
  EXPECT_EQ(hazard_of(planned, mutant), "") << planned.name;
}

TEST(PlanCheckAgainstReplay, ExchangedNeighbours_ThatAreProved_HaveNoHazard) {
  Verdicts verdicts;
  for (const auto& planned : make_plan_cases()) {
    for (std::size_t op = 0; op + 1 < planned->train.ops.size(); ++op) {
      expect_agreement(*planned, with_swapped(planned->train, op), verdicts);
    }
  }
  EXPECT_GT(verdicts.accepted, 50);
  EXPECT_GT(verdicts.rejected, 200);
}

TEST(PlanCheckAgainstReplay, LeasesPlacedAnywhereElse_ThatAreProved_HaveNoHazard) {
  std::mt19937 random(1);
  Verdicts verdicts;
  for (const auto& planned : make_plan_cases()) {
    const Plan& plan = planned->train;
    for (int trial = 0; trial < 60 && !plan.leases.empty(); ++trial) {
      Plan mutant = plan;
      mutant.arena_bytes *= 2;
      fsdp::Lease& lease = mutant.leases[random() % mutant.leases.size()];
      const auto places = static_cast<std::uint32_t>((mutant.arena_bytes - lease.bytes) / fsdp::kLeaseAlignment);
      lease.offset = fsdp::kLeaseAlignment * static_cast<std::int64_t>(random() % (places + 1));
      expect_agreement(*planned, mutant, verdicts);
    }
  }
  EXPECT_GT(verdicts.accepted, 100);
  EXPECT_GT(verdicts.rejected, 100);
}

TEST(PlanCheckAgainstReplay, WaitsMovedToTheNextOperationOfTheStream_ThatAreProved_HaveNoHazard) {
  Verdicts verdicts;
  for (const auto& planned : make_plan_cases()) {
    const Plan& plan = planned->train;
    for (std::size_t op = 0; op < plan.ops.size(); ++op) {
      if (plan.ops[op].waits.empty()) continue;
      std::size_t next = op + 1;
      while (next < plan.ops.size() && plan.ops[next].stream != plan.ops[op].stream) ++next;
      if (next == plan.ops.size()) continue;
      Plan mutant = plan;
      mutant.ops[next].waits.insert(mutant.ops[next].waits.end(), plan.ops[op].waits.begin(), plan.ops[op].waits.end());
      mutant.ops[op].waits.clear();
      expect_agreement(*planned, mutant, verdicts);
    }
  }
  EXPECT_GT(verdicts.rejected, 100);  // waits stand as late as they can
  EXPECT_EQ(verdicts.accepted, 0);
}

TEST(PlanCheckAgainstReplay, RecordsMovedToThePreviousOperationOfTheStream_ThatAreProved_HaveNoHazard) {
  Verdicts verdicts;
  for (const auto& planned : make_plan_cases()) {
    const Plan& plan = planned->train;
    for (std::size_t op = 1; op < plan.ops.size(); ++op) {
      if (plan.ops[op].records < 0) continue;
      std::size_t previous = op - 1;
      while (previous > 0 && plan.ops[previous].stream != plan.ops[op].stream) --previous;
      if (plan.ops[previous].stream != plan.ops[op].stream || plan.ops[previous].records >= 0) continue;
      Plan mutant = plan;
      std::swap(mutant.ops[previous].records, mutant.ops[op].records);
      repair_bookkeeping(mutant);
      expect_agreement(*planned, mutant, verdicts);
    }
  }
  EXPECT_GT(verdicts.rejected, 50);
}

}  // namespace
}  // namespace shoal::test
