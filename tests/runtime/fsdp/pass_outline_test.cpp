#include "shoal/runtime/fsdp/pass_outline.h"

#include <gtest/gtest.h>

#include "shoal/runtime/base/error.h"
#include "shoal/tests/support/plan_cases.h"

namespace shoal::test {
namespace {

using fsdp::TraceKind;

TEST(PassOutline, Calls_AreWhereTheTraceHasThem) {
  const PlanCase planned("chain", make_chain(3, 100), 2, 1);
  const fsdp::PassOutline outline = fsdp::outline_pass(planned.train_trace, planned.input());
  const auto kind_at = [&](int position) {
    return planned.train_trace.events[static_cast<std::size_t>(position)].kind;
  };
  EXPECT_EQ(kind_at(outline.forward_end), TraceKind::ForwardEnd);
  for (const fsdp::UnitCall& call : outline.calls) {
    EXPECT_EQ(kind_at(call.enter_forward), TraceKind::EnterForward);
    EXPECT_EQ(kind_at(call.exit_forward), TraceKind::ExitForward);
    EXPECT_EQ(kind_at(call.enter_backward), TraceKind::EnterBackward);
    EXPECT_EQ(kind_at(call.exit_backward), TraceKind::ExitBackward);
    EXPECT_LT(call.enter_forward, call.exit_forward);
    EXPECT_LT(call.exit_forward, call.enter_backward);
  }
}

TEST(PassOutline, Reads_AreToldApartByPhase) {
  const PlanCase planned("biases", make_without_backward_reads(), 2, 1);
  const fsdp::PassOutline train = fsdp::outline_pass(planned.train_trace, planned.input());
  EXPECT_EQ(train.reads_forward, std::vector<char>(6, 1));
  EXPECT_EQ(train.reads_backward, (std::vector<char>{0, 1, 0, 1, 0, 1}));
  const fsdp::PassOutline evaluate = fsdp::outline_pass(planned.evaluate_trace, planned.input());
  EXPECT_EQ(evaluate.reads_backward, std::vector<char>(6, 0));
}

TEST(PassOutline, UnitsThatAreNotReached_HaveNoCall) {
  const PlanCase planned("unreached", make_partly_unreached(), 2, 1);
  const fsdp::PassOutline outline = fsdp::outline_pass(planned.train_trace, planned.input());
  EXPECT_EQ(outline.calls[static_cast<std::size_t>(planned.unit("loose"))].enter_forward, -1);
  EXPECT_GE(outline.calls[static_cast<std::size_t>(planned.unit("layers.0"))].enter_forward, 0);
  EXPECT_EQ(outline.calls[static_cast<std::size_t>(planned.unit("layers.0"))].enter_backward, -1);
}

std::string refusal(const SyntheticModel& model, const SyntheticModel& traced) {
  const fsdp::Policies policies;
  const fsdp::UnitTable units = fsdp::make_units(model.spec(), model.train_trace(), policies, 2);
  try {
    fsdp::outline_pass(traced.train_trace(), {model.spec(), units, policies, 2});
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unsupported);
    return error.what();
  }
}

TEST(PassOutline, UnitCalledTwice_IsRefusedByName) {
  const SyntheticModel model = make_chain(2, 10);
  SyntheticModel twice = make_chain(2, 10);
  twice.call(2, {.parameters = {1}});
  EXPECT_EQ(refusal(model, model), "");
  const std::string text = refusal(model, twice);
  EXPECT_NE(text.find("'layers.1' is called more than once"), std::string::npos) << text;
}

TEST(PassOutline, ParameterUsedOutsideOfItsUnit_IsRefusedNamingBoth) {
  const SyntheticModel model = make_chain(2, 10);
  SyntheticModel elsewhere = make_chain(2, 10);
  elsewhere.run({.parameters = {1}});  // after the root's call
  const std::string text = refusal(model, elsewhere);
  EXPECT_NE(text.find("'layers.1.weight' outside of the call of its unit 'layers.1'"), std::string::npos) << text;
}

}  // namespace
}  // namespace shoal::test
