#include "shoal/runtime/fsdp/plan_print.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "shoal/tests/support/plan_cases.h"

namespace shoal::test {
namespace {

TEST(PlanPrint, TrainingPlan_IsOneLinePerOperation) {
  const PlanCase planned("chain", make_chain(2, 200), 2, 1);
  EXPECT_EQ("\n" + fsdp::print_plan(planned.train, planned.units), R"(
training pass, strategy full, world size 2: 28 operations, 10 events, 10 leases (4 of activations), arena of 4096 bytes
op  stream   operation              unit      bytes of arena  events
0   compute  pass_begin                                       records e0
1   gather     gather               layers.0  [1280, +1024)   waits e0, records e1
2   compute  enter_forward          layers.0                  waits e1
3   gather     gather               layers.1  [256, +1024)    records e2
4   compute  exit_forward           layers.0                  records e3
5   compute  release_values         layers.0  [1280, +1024)
6   compute  enter_forward          layers.1                  waits e2
7   compute  exit_forward           layers.1
8   compute  release_values         layers.1  [256, +1024)
9   compute  forward_end                                      records e4
10  gather     gather               layers.1  [2560, +1024)   records e5
11  reduce       reduce_sums                                  waits e4
12  compute  enter_backward         layers.1
13  compute  hold_gradients         layers.1  [256, +1024)    waits e5
14  gather     gather               layers.0  [1280, +1024)   waits e3, records e6
15  compute  exit_backward          layers.1
16  compute  release_values         layers.1  [2560, +1024)
17  compute  finish_gradients       layers.1  [256, +1024)    records e7
18  reduce       reduce             layers.1  [256, +1024)    waits e7
19  compute  enter_backward         layers.0
20  compute  hold_gradients         layers.0  [2304, +1024)   waits e6
21  compute  exit_backward          layers.0
22  compute  release_values         layers.0  [1280, +1024)
23  compute  finish_gradients       layers.0  [2304, +1024)   records e8
24  reduce       reduce             layers.0  [2304, +1024)   waits e8, records e9
25  reduce       release_gradients  layers.1  [256, +1024)
26  reduce       release_gradients  layers.0  [2304, +1024)
27  compute  pass_end                                         waits e9
)");
}

TEST(PlanPrint, UpdatePlan_IsOneLinePerOperation) {
  const PlanCase planned("frozen", make_partly_frozen(), 2, 1);
  EXPECT_EQ("\n" + fsdp::print_plan(planned.update, planned.units), R"(
update pass, strategy full, world size 2: 14 operations, 3 events, 0 leases (0 of activations), arena of 0 bytes
op  stream   operation        unit      bytes of arena  events
0   compute  pass_begin
1   compute  gradient_norm    layers.2
2   compute  gradient_norm    layers.3
3   compute  gradient_norm    layers.4                  records e0
4   reduce       reduce_norm                            waits e0, records e1
5   compute  finish_norm                                waits e1
6   gather     await_readers                            records e2
7   compute  update           layers.2                  waits e2
8   compute  update           layers.3
9   compute  update           layers.4
10  compute  publish          layers.2
11  compute  publish          layers.3
12  compute  publish          layers.4
13  compute  pass_end
)");
}

TEST(PlanPrint, FrozenParameters_AreNamedSo) {
  const PlanCase planned("frozen", make_partly_frozen(), 2, 1);
  EXPECT_NE(fsdp::print_plan(planned.train, planned.units).find("layers.2 (frozen)"), std::string::npos);
}

TEST(PlanPrint, AnyPlan_HasNoTrailingBlanks_AndALinePerOperation) {
  for (const auto& planned : make_plan_cases()) {
    const std::string text = fsdp::print_plan(planned->train, planned->units);
    EXPECT_EQ(text.find(" \n"), std::string::npos);
    EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), planned->train.ops.size() + 2);
  }
}

}  // namespace
}  // namespace shoal::test
