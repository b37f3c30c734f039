#include "shoal/runtime/fsdp/planner.h"

#include <gtest/gtest.h>

#include "shoal/runtime/base/error.h"
#include "shoal/tests/support/plan_cases.h"

namespace shoal::test {
namespace {

using fsdp::OpKind;
using fsdp::Plan;
using fsdp::PlanOp;
using fsdp::Strategy;

int index_of(const Plan& plan, OpKind kind, int flat) {
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    if (plan.ops[i].kind == kind && plan.ops[i].flat == flat) return static_cast<int>(i);
  }
  return -1;
}

std::string refusal(const fsdp::Policies& policies, int world_size, ErrorCode code) {
  const SyntheticModel model = make_chain(2, 10);
  const fsdp::Trace trace = model.train_trace();
  const fsdp::UnitTable units = fsdp::make_units(model.spec(), trace, policies, 2);
  const fsdp::PlannerInput input{model.spec(), units, policies, world_size};
  std::string text;
  try {
    fsdp::plan_pass(trace, input);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    text = error.what();
  }
  EXPECT_THROW(fsdp::plan_update(input), Error);
  return text;
}

TEST(Planner, StrategiesThatAreNotBuilt_AreRefusedByName) {
  for (const Strategy strategy : {Strategy::Optimizer, Strategy::Gradients, Strategy::Hybrid}) {
    const std::string text =
        refusal({.strategy = strategy, .prefetch = 1, .wrap_types = {}}, 2, ErrorCode::Unsupported);
    EXPECT_NE(text.find(fsdp::strategy_name(strategy)), std::string::npos) << text;
  }
}

TEST(Planner, NegativePrefetchOrNoRanks_AreRefused) {
  const fsdp::Policies backwards{.strategy = Strategy::Full, .prefetch = -1, .wrap_types = {}};
  EXPECT_NE(refusal(backwards, 2, ErrorCode::InvalidArgument).find("prefetch is -1"), std::string::npos);
  EXPECT_NE(refusal({}, 0, ErrorCode::InvalidArgument).find("world size is 0"), std::string::npos);
}

TEST(Planner, SameInput_GivesTheSamePlan) {
  for (int repeat = 0; repeat < 2; ++repeat) {
    const PlanCase a("a", make_nested(), 3, 2), b("b", make_nested(), 3, 2);
    ASSERT_EQ(a.train.ops.size(), b.train.ops.size());
    for (std::size_t i = 0; i < a.train.ops.size(); ++i) {
      EXPECT_EQ(a.train.ops[i].kind, b.train.ops[i].kind);
      EXPECT_EQ(a.train.ops[i].waits, b.train.ops[i].waits);
      EXPECT_EQ(a.train.ops[i].records, b.train.ops[i].records);
    }
    for (std::size_t i = 0; i < a.train.leases.size(); ++i) {
      EXPECT_EQ(a.train.leases[i].offset, b.train.leases[i].offset);
    }
  }
}

TEST(Planner, GatherOfThePreviousUnit_IsEnqueuedBeforeTheReductionOfThisOne) {
  for (const int prefetch : {1, 2, 3}) {
    const PlanCase planned("chain", make_chain(6, 100), 2, prefetch);
    const Plan& plan = planned.train;
    const int forward_end = index_of(plan, OpKind::ForwardEnd, -1);
    for (int flat = 5; flat > 0; --flat) {
      int gather = forward_end;
      while (plan.ops[static_cast<std::size_t>(gather)].kind != OpKind::Gather ||
             plan.ops[static_cast<std::size_t>(gather)].flat != flat - 1) {
        ++gather;
      }
      EXPECT_LT(gather, index_of(plan, OpKind::Reduce, flat));
    }
  }
}

TEST(Planner, Prefetch_LetsAGatherRunBesideTheUnitBeforeIt) {
  // What overlap needs is in the dependencies: the gather must not wait for the end of the unit that hides it.
  const PlanCase planned("chain", make_chain(5, 10000), 2, 1);
  const Plan& plan = planned.train;
  std::vector<int> recorder(static_cast<std::size_t>(plan.num_events), -1);
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    if (plan.ops[i].records >= 0) recorder[static_cast<std::size_t>(plan.ops[i].records)] = static_cast<int>(i);
    if (plan.ops[i].kind != OpKind::Gather) continue;
    const int last_entry = [&] {
      int at = static_cast<int>(i);
      while (plan.ops[static_cast<std::size_t>(at)].kind != OpKind::EnterForward &&
             plan.ops[static_cast<std::size_t>(at)].kind != OpKind::EnterBackward && at > 0) {
        --at;
      }
      return at;
    }();
    for (const int event : plan.ops[i].waits) EXPECT_LE(recorder[static_cast<std::size_t>(event)], last_entry);
  }
}

TEST(Planner, ActivationLeases_AreTheTracesInOrder) {
  const PlanCase planned("chain", make_chain(3, 100, 1000), 2, 1);
  int next = 0;
  for (const fsdp::TraceEvent& event : planned.train_trace.events) {
    if (event.kind != fsdp::TraceKind::Acquire) continue;
    EXPECT_EQ(event.id, next);
    EXPECT_EQ(planned.train.leases[static_cast<std::size_t>(next)].bytes, event.bytes);
    EXPECT_EQ(planned.train.leases[static_cast<std::size_t>(next)].unit, -1);
    ++next;
  }
  EXPECT_EQ(planned.train.num_activation_leases, next);
}

TEST(Planner, Steps_AreTheTracesWithoutItsMarks) {
  const PlanCase planned("with state", make_with_state(), 2, 1);
  std::vector<fsdp::TraceEvent> steps;
  for (const fsdp::TraceEvent& event : planned.train_trace.events) {
    if (!fsdp::is_mark(event.kind)) steps.push_back(event);
  }
  ASSERT_EQ(planned.train.steps.size(), steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(planned.train.steps[i].kind, steps[i].kind);
    EXPECT_EQ(planned.train.steps[i].id, steps[i].id);
  }
  EXPECT_EQ(planned.train.staged_states, (std::vector<int>{0, 1}));
  EXPECT_TRUE(planned.evaluate.staged_states.empty());
}

TEST(Planner, APrediction_ReducesNothing_AndAwaitsReadersLikeAnEvaluation) {
  const PlanCase planned("chain", make_chain(4, 100), 2, 1);
  fsdp::Trace trace = planned.evaluate_trace;
  trace.has_loss = false;
  const Plan predict = fsdp::plan_pass(trace, planned.input());
  EXPECT_EQ(predict.kind, fsdp::PassKind::Predict);
  EXPECT_EQ(index_of(predict, OpKind::ReduceSums, -1), -1);
  EXPECT_EQ(predict.ops.size() + 1, planned.evaluate.ops.size());
  for (const Plan* plan : {&predict, &planned.evaluate}) {
    const PlanOp& last = plan->ops[plan->ops.size() - 2];
    EXPECT_EQ(last.kind, OpKind::AwaitReaders);
    EXPECT_EQ(last.records, -1);  // only the host waits for it
  }
  EXPECT_EQ(index_of(planned.train, OpKind::AwaitReaders, -1), -1);
  const PlanCase replicated("replicated", make_chain(4, 100), 2, 1, Strategy::None);
  EXPECT_EQ(index_of(replicated.evaluate, OpKind::AwaitReaders, -1), -1);
}

}  // namespace
}  // namespace shoal::test
