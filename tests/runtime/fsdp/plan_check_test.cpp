#include "shoal/runtime/fsdp/plan_check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/fsdp/enqueue_order.h"
#include "shoal/tests/support/plan_cases.h"
#include "shoal/tests/support/plan_mutations.h"

namespace shoal::test {
namespace {

using fsdp::OpKind;
using fsdp::Plan;
using fsdp::PlanOp;

/// What the checker says against the plan; empty: nothing.
std::string objection(const PlanCase& planned, const Plan& plan) {
  const Plan* one = &plan;
  try {
    fsdp::check_plan({&one, 1}, planned.trace_of(plan), planned.input());
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Internal);
    EXPECT_EQ(std::string(error.what()).rfind("[plan_check] rank 0: ", 0), 0U) << error.what();
    return error.what();
  }
}

void for_each_plan(const std::function<void(const PlanCase&, const Plan&)>& visit) {
  static const std::vector<std::unique_ptr<PlanCase>> cases = make_plan_cases();
  for (const auto& planned : cases) {
    for (const Plan* plan : {&planned->train, &planned->evaluate, &planned->update}) visit(*planned, *plan);
  }
}

std::string where(const PlanCase& planned, const Plan& plan, std::size_t op) {
  return fmt::format("{}: {} (operation {} of pass {})", planned.name, fsdp::op_kind_name(plan.ops[op].kind), op,
                     static_cast<int>(plan.kind));
}

TEST(PlanCheck, PlansAsTheyArePlanned_AreProved) {
  for_each_plan(
      [](const PlanCase& planned, const Plan& plan) { EXPECT_EQ(objection(planned, plan), "") << planned.name; });
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const PlanCase planned("seed " + std::to_string(seed), make_random(seed), 1 + static_cast<int>(seed % 4),
                           static_cast<int>(seed % 4), seed % 5 == 0 ? fsdp::Strategy::None : fsdp::Strategy::Full);
    for (const Plan* plan : {&planned.train, &planned.evaluate, &planned.update}) {
      EXPECT_EQ(objection(planned, *plan), "") << planned.name;
    }
  }
}

TEST(PlanCheck, Proof_CountsWhatItSaw) {
  const PlanCase planned("chain", make_chain(4, 100), 2, 1);
  const Plan* one = &planned.train;
  const fsdp::PlanProof proof = fsdp::check_plan({&one, 1}, planned.train_trace, planned.input());
  EXPECT_EQ(proof.num_ops, static_cast<int>(planned.train.ops.size()));
  EXPECT_EQ(proof.num_gathers, 8);  // 2 a unit
  EXPECT_EQ(proof.num_reduces, 4);
  EXPECT_GE(proof.num_waits, planned.train.num_events);
  // Each gather against its one use, each reduction against its gradient and its zeroing, and the sums.
  EXPECT_GE(proof.num_conflicts_ordered, 8 + 2 * 4 + 1);
}

TEST(PlanCheck, WithoutAnyOneWait_IsRejected) {
  for_each_plan([](const PlanCase& planned, const Plan& plan) {
    for (std::size_t op = 0; op < plan.ops.size(); ++op) {
      for (std::size_t wait = 0; wait < plan.ops[op].waits.size(); ++wait) {
        EXPECT_NE(objection(planned, without_wait(plan, op, wait)), "") << where(planned, plan, op);
      }
    }
  });
}

TEST(PlanCheck, WithoutAnyOneOperation_IsRejected) {
  for_each_plan([](const PlanCase& planned, const Plan& plan) {
    for (std::size_t op = 0; op < plan.ops.size(); ++op) {
      EXPECT_NE(objection(planned, without_op(plan, op)), "") << where(planned, plan, op);
    }
  });
}

TEST(PlanCheck, WithAnyOneOperationTwice_IsRejected) {
  for_each_plan([](const PlanCase& planned, const Plan& plan) {
    for (std::size_t op = 0; op < plan.ops.size(); ++op) {
      EXPECT_NE(objection(planned, with_duplicate(plan, op)), "") << where(planned, plan, op);
    }
  });
}

/// Whether exchanging two neighbours may leave a plan that does the same. On different streams with no event from one
/// to the other, nothing says which comes first. On one stream the order is immaterial only for two operations on
/// different memory (of two flat parameters, or the values and the gradients of one), and never for marks: what follows
/// a mark is enqueued with it.
bool may_be_exchanged(const PlanOp& a, const PlanOp& b) {
  if (a.records >= 0 && std::find(b.waits.begin(), b.waits.end(), a.records) != b.waits.end()) return false;
  if (a.stream != b.stream) return true;
  if (fsdp::is_mark(a.kind) || fsdp::is_mark(b.kind) || a.flat < 0 || b.flat < 0) return false;
  return a.flat != b.flat || (a.lease != b.lease);
}

TEST(PlanCheck, NeighboursExchanged_AreRejectedUnlessNothingOrdersThem) {
  int num_rejected = 0;
  for_each_plan([&](const PlanCase& planned, const Plan& plan) {
    for (std::size_t op = 0; op + 1 < plan.ops.size(); ++op) {
      const std::string text = objection(planned, with_swapped(plan, op));
      num_rejected += text.empty() ? 0 : 1;
      if (may_be_exchanged(plan.ops[op], plan.ops[op + 1])) continue;
      EXPECT_NE(text, "") << where(planned, plan, op);
    }
  });
  EXPECT_GT(num_rejected, 500);
}

TEST(PlanCheck, ReleasesMovedForward_AreRejectedOnceTheyPassAUse) {
  int num_moved = 0;
  for_each_plan([&](const PlanCase& planned, const Plan& plan) {
    for (std::size_t op = 0; op < plan.ops.size(); ++op) {
      const OpKind kind = plan.ops[op].kind;
      if (kind != OpKind::ReleaseValues && kind != OpKind::ReleaseGradients) continue;
      // Values may go back only after the unit's exit, gradients only after their reduction.
      const OpKind last_use = kind == OpKind::ReleaseGradients ? OpKind::Reduce : OpKind::PassBegin;
      for (std::size_t to = op; to-- > 1;) {
        const PlanOp& passed = plan.ops[to];
        const bool is_use = last_use == OpKind::Reduce
                                ? passed.kind == OpKind::Reduce && passed.flat == plan.ops[op].flat
                                : fsdp::is_mark(passed.kind);
        if (!is_use) continue;
        ++num_moved;
        EXPECT_NE(objection(planned, with_moved(plan, op, to)), "") << where(planned, plan, op) << " to " << to;
        break;
      }
    }
  });
  EXPECT_GT(num_moved, 100);
}

TEST(PlanCheck, LeasesMovedOntoOthersThatAreHeld_AreRejected) {
  int num_moved = 0;
  for_each_plan([&](const PlanCase& planned, const Plan& plan) {
    const fsdp::EnqueueOrder order = fsdp::enqueue_order(plan, planned.trace_of(plan));
    for (int a = 0; a < static_cast<int>(plan.leases.size()); ++a) {
      for (int b = 0; b < static_cast<int>(plan.leases.size()); ++b) {
        const bool meet =
            order.begin_of(plan, a) <= order.end_of(plan, b) && order.begin_of(plan, b) <= order.end_of(plan, a);
        if (a == b || !meet) continue;
        Plan mutant = plan;
        fsdp::Lease& moved = mutant.leases[static_cast<std::size_t>(a)];
        moved.offset = mutant.leases[static_cast<std::size_t>(b)].offset;
        mutant.arena_bytes = std::max(mutant.arena_bytes, moved.offset + moved.bytes);
        EXPECT_NE(objection(planned, mutant), "") << planned.name << ": " << a << " onto " << b;
        ++num_moved;
      }
    }
  });
  EXPECT_GT(num_moved, 500);
}

TEST(PlanCheck, LeasesMovedOntoOthersWithoutAnEvent_AreRejectedWhereStreamsDiffer) {
  // A later gather takes the place of an earlier one that compute has just read: without a wait for that.
  const PlanCase planned("chain", make_chain(3, 1000), 2, 1);
  Plan mutant = planned.train;
  std::vector<int> gathers;
  for (const PlanOp& op : mutant.ops) {
    if (op.kind == OpKind::Gather) gathers.push_back(op.lease);
  }
  int num_rejected = 0;
  for (std::size_t i = 0; i + 1 < gathers.size(); ++i) {
    for (std::size_t j = i + 1; j < gathers.size(); ++j) {
      mutant = planned.train;
      mutant.leases[static_cast<std::size_t>(gathers[j])].offset =
          mutant.leases[static_cast<std::size_t>(gathers[i])].offset;
      num_rejected += objection(planned, mutant).empty() ? 0 : 1;
    }
  }
  EXPECT_GT(num_rejected, 5);
}

TEST(PlanCheck, UnalignedOrOutsideOfTheArena_IsRejected) {
  const PlanCase planned("chain", make_chain(2, 100), 2, 1);
  Plan mutant = planned.train;
  mutant.leases.back().offset += 4;
  EXPECT_NE(objection(planned, mutant), "");
  mutant = planned.train;
  mutant.arena_bytes -= 64;
  EXPECT_NE(objection(planned, mutant), "");
  mutant = planned.train;
  mutant.leases.back().bytes -= 4;
  EXPECT_NE(objection(planned, mutant), "");
}

TEST(PlanCheck, GatheredFurtherAhead_ThanThePolicyAllows_IsRejected) {
  const PlanCase planned("chain", make_chain(5, 100), 2, 3);
  const fsdp::Policies policies{.strategy = fsdp::Strategy::Full, .prefetch = 2, .wrap_types = {}};
  const Plan* one = &planned.train;
  const fsdp::PlannerInput stricter{planned.model, planned.units, policies, 2};
  EXPECT_THROW(fsdp::check_plan({&one, 1}, planned.train_trace, stricter), Error);
}

TEST(PlanCheck, EventsThatNobodyAwaitsOrRecords_AreRejected) {
  const PlanCase planned("chain", make_chain(2, 100), 2, 1);
  Plan mutant = planned.train;
  mutant.ops.back().records = mutant.num_events++;
  EXPECT_NE(objection(planned, mutant).find("nobody waits"), std::string::npos);
  mutant = planned.train;
  mutant.ops[1].waits.push_back(mutant.num_events - 1);
  EXPECT_NE(objection(planned, mutant).find("no earlier operation has recorded"), std::string::npos);
}

TEST(PlanCheck, Messages_NameOperationsUnitsAndRank) {
  const PlanCase planned("chain", make_chain(3, 100), 2, 1);
  for (std::size_t op = 0; op < planned.train.ops.size(); ++op) {
    if (planned.train.ops[op].kind != OpKind::Reduce) continue;
    const std::string text = objection(planned, without_wait(planned.train, op, 0));
    EXPECT_NE(text.find("(reduce of 'layers.2')"), std::string::npos) << text;
    EXPECT_NE(text.find("nothing orders the two"), std::string::npos) << text;
    break;
  }
}

TEST(PlanCheck, OneRankIssuingTwoCollectivesInReverse_IsRejectedNamingIt) {
  const PlanCase planned("chain", make_chain(3, 100), 3, 2);
  int num_reversed = 0;
  for (std::size_t op = 0; op + 1 < planned.train.ops.size(); ++op) {
    if (planned.train.ops[op].kind != OpKind::Gather || planned.train.ops[op + 1].kind != OpKind::Gather) continue;
    const Plan other = with_swapped(planned.train, op);
    const std::vector<const Plan*> ranks = {&planned.train, &other, &planned.train};
    try {
      fsdp::check_plan(ranks, planned.train_trace, planned.input());
      ADD_FAILURE() << op;
    } catch (const Error& error) {
      EXPECT_EQ(error.rank(), 1);
      EXPECT_NE(std::string(error.what()).find("rank 1: collective"), std::string::npos) << error.what();
    }
    ++num_reversed;
  }
  EXPECT_GT(num_reversed, 1);
}

TEST(PlanCheck, OnePlanPerRankOrOneForAll_AndNothingElse) {
  const PlanCase planned("chain", make_chain(2, 100), 3, 1);
  const std::vector<const Plan*> three(3, &planned.train), two(2, &planned.train);
  EXPECT_NO_THROW(fsdp::check_plan(three, planned.train_trace, planned.input()));
  EXPECT_THROW(fsdp::check_plan(two, planned.train_trace, planned.input()), Error);
}

}  // namespace
}  // namespace shoal::test
