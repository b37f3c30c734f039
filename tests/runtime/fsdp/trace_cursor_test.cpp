#include "shoal/runtime/fsdp/trace_cursor.h"

#include <gtest/gtest.h>

#include "shoal/tests/support/plan_cases.h"

namespace shoal::test {
namespace {

using fsdp::TraceKind;

TEST(TraceCursor, FollowsTheTrace_AndNothingElse) {
  const PlanCase planned("with state", make_with_state(), 2, 1);
  fsdp::TraceCursor cursor;
  for (int repeat = 0; repeat < 2; ++repeat) {
    cursor.begin(planned.train);
    for (const fsdp::TraceEvent& step : planned.train.steps) {
      EXPECT_FALSE(cursor.is_at_end());
      EXPECT_FALSE(cursor.follow(step.kind, step.id + 1));
      EXPECT_FALSE(cursor.follow(step.kind == TraceKind::Acquire ? TraceKind::Release : TraceKind::Acquire, step.id));
      EXPECT_TRUE(cursor.follow(step.kind, step.id));
    }
    EXPECT_TRUE(cursor.is_at_end());
    EXPECT_FALSE(cursor.follow(TraceKind::Acquire, 0));
    EXPECT_EQ(cursor.describe_next(planned.units), "ends");
  }
}

TEST(TraceCursor, SaysWhatComesNext_ByName) {
  const PlanCase planned("with state", make_with_state(), 2, 1);
  fsdp::Plan plan;
  plan.steps = {{TraceKind::Acquire, 4},
                {TraceKind::UseParameter, 1},
                {TraceKind::WriteGradient, 2},
                {TraceKind::StageState, 1},
                {TraceKind::Release, 4}};
  fsdp::TraceCursor cursor;
  cursor.begin(plan);
  std::vector<std::string> said;
  for (const fsdp::TraceEvent& step : plan.steps) {
    said.push_back(cursor.describe_next(planned.units));
    cursor.follow(step.kind, step.id);
  }
  EXPECT_EQ(said, (std::vector<std::string>{"acquires lease 4", "uses 'layers.1.weight'",
                                            "writes the gradient of 'layers.2.weight'", "stages state buffer 1",
                                            "gives lease 4 back"}));
}

}  // namespace
}  // namespace shoal::test
