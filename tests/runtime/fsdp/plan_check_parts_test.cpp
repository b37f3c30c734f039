#include "shoal/runtime/fsdp/plan_check_parts.h"

#include <gtest/gtest.h>

#include "shoal/runtime/base/error.h"
#include "shoal/tests/support/plan_cases.h"
#include "shoal/tests/support/plan_mutations.h"

namespace shoal::test {
namespace {

using fsdp::OpKind;
using fsdp::Plan;
using fsdp::PlanSubject;

std::size_t find_op(const Plan& plan, OpKind kind, int occurrence = 0) {
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    if (plan.ops[i].kind == kind && occurrence-- == 0) return i;
  }
  ADD_FAILURE() << "no " << fsdp::op_kind_name(kind);
  return 0;
}

std::string cycle_text(const PlanCase& planned, const std::vector<const Plan*>& plans) {
  std::vector<PlanSubject> ranks;
  const fsdp::PlannerInput input = planned.input();
  for (std::size_t r = 0; r < plans.size(); ++r) {
    ranks.push_back({*plans[r], planned.train_trace, input, static_cast<int>(r)});
  }
  try {
    fsdp::check_no_cycle(ranks);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(PlanCheckParts, JointGraph_OfGoodPlans_HasNoCycle) {
  for (const auto& planned : make_plan_cases()) {
    EXPECT_EQ(cycle_text(*planned, {&planned->train, &planned->train}), "") << planned->name;
  }
}

TEST(PlanCheckParts, JointGraph_OfRanksThatReverseTwoCollectives_HasACycle) {
  const PlanCase planned("chain", make_chain(4, 100), 2, 1);
  // Rank 1 reduces before it gathers what rank 0 gathers first.
  Plan other = planned.train;
  const std::size_t reduce = find_op(other, OpKind::Reduce);
  std::size_t gather = reduce + 1;
  while (other.ops[gather].kind != OpKind::Gather) ++gather;
  other = with_moved(other, gather, find_op(other, OpKind::ReduceSums));
  const std::string text = cycle_text(planned, {&planned.train, &other});
  EXPECT_NE(text.find("in a circle"), std::string::npos) << text;
  EXPECT_NE(text.find("all ranks: operation"), std::string::npos) << text;
  EXPECT_EQ(cycle_text(planned, {&other, &other}), "");
}

TEST(PlanCheckParts, JointGraph_WithAnEventAwaitedBeforeItIsRecorded_HasACycle) {
  const PlanCase planned("chain", make_chain(3, 100), 2, 1);
  Plan mutant = planned.train;
  const std::size_t first = find_op(mutant, OpKind::Gather);
  const std::size_t entry = find_op(mutant, OpKind::EnterForward);
  ASSERT_EQ(mutant.ops[entry].waits, std::vector<int>{mutant.ops[first].records});
  // The gather waits for compute, which waits for the gather.
  mutant.ops[entry].records = mutant.num_events;
  mutant.ops[first].waits = {mutant.num_events};
  ++mutant.num_events;
  const std::string text = cycle_text(planned, {&mutant});
  EXPECT_NE(text.find("gather of 'layers.0'"), std::string::npos) << text;
  EXPECT_NE(text.find("enter_forward of 'layers.0'"), std::string::npos) << text;
}

TEST(PlanCheckParts, Counts_AreTheStrategysFormula) {
  const PlanCase full("full", make_chain(5, 100), 2, 1);
  const PlanCase none("none", make_chain(5, 100), 2, 1, fsdp::Strategy::None);
  const fsdp::PlannerInput full_input = full.input();
  const fsdp::PlannerInput none_input = none.input();
  EXPECT_NO_THROW(fsdp::check_counts({full.train, full.train_trace, full_input}));
  EXPECT_NO_THROW(fsdp::check_counts({none.train, none.train_trace, none_input}));
  // The same operations are wrong for a trace that reads nothing in the backward.
  fsdp::Trace forward_only = full.train_trace;
  bool is_forward = true;
  std::erase_if(forward_only.events, [&](const fsdp::TraceEvent& event) {
    is_forward = is_forward && event.kind != fsdp::TraceKind::ForwardEnd;
    return !is_forward && event.kind == fsdp::TraceKind::UseParameter;
  });
  EXPECT_THROW(fsdp::check_counts({full.train, forward_only, full_input}), Error);
}

TEST(PlanCheckParts, Structure_OfAnotherTracesMarks_IsRejected) {
  const PlanCase three("three", make_chain(3, 100), 2, 1);
  const PlanCase four("four", make_chain(4, 100), 2, 1);
  const fsdp::PlannerInput input = four.input();
  EXPECT_NO_THROW(fsdp::check_structure({four.train, four.train_trace, input}));
  EXPECT_THROW(fsdp::check_structure({three.train, four.train_trace, input}), Error);
  EXPECT_THROW(fsdp::check_structure({four.train, four.evaluate_trace, input}), Error);
}

TEST(PlanCheckParts, Structure_OnAnotherStreamOrUnit_IsRejected) {
  const PlanCase planned("chain", make_chain(3, 100), 2, 1);
  const fsdp::PlannerInput input = planned.input();
  for (std::size_t op = 0; op < planned.train.ops.size(); ++op) {
    Plan mutant = planned.train;
    mutant.ops[op].stream = mutant.ops[op].stream == StreamRole::Gather ? StreamRole::Reduce : StreamRole::Gather;
    EXPECT_THROW(fsdp::check_structure({mutant, planned.train_trace, input}), Error) << op;
    mutant = planned.train;
    mutant.ops[op].unit = mutant.ops[op].unit < 0 ? 0 : 3;
    EXPECT_THROW(fsdp::check_structure({mutant, planned.train_trace, input}), Error) << op;
    mutant = planned.train;
    mutant.ops[op].trace_position += 1;
    EXPECT_THROW(fsdp::check_structure({mutant, planned.train_trace, input}), Error) << op;
  }
}

}  // namespace
}  // namespace shoal::test
