#include "shoal/runtime/fsdp/enqueue_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "shoal/tests/support/plan_cases.h"

namespace shoal::test {
namespace {

TEST(EnqueueOrder, OfAnyPlan_NumbersEverythingOnce) {
  for (const auto& planned : make_plan_cases()) {
    for (const fsdp::Plan* plan : {&planned->train, &planned->evaluate, &planned->update}) {
      const fsdp::EnqueueOrder order = fsdp::enqueue_order(*plan, planned->trace_of(*plan));
      EXPECT_EQ(order.of_event.size(), planned->trace_of(*plan).events.size() + 1);
      EXPECT_EQ(order.of_op.size(), plan->ops.size());
      std::vector<int> all = order.of_event;
      all.insert(all.end(), order.of_op.begin(), order.of_op.end());
      std::sort(all.begin(), all.end());
      std::vector<int> expected(all.size());
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(all, expected) << planned->name;
      EXPECT_TRUE(std::is_sorted(order.of_event.begin(), order.of_event.end()));
      EXPECT_TRUE(std::is_sorted(order.of_op.begin(), order.of_op.end()));
    }
  }
}

TEST(EnqueueOrder, WhatFollowsAMark_ComesBeforeTheNextEvent) {
  const PlanCase planned("chain", make_chain(3, 100), 2, 1);
  const fsdp::EnqueueOrder order = fsdp::enqueue_order(planned.train, planned.train_trace);
  for (std::size_t i = 1; i + 1 < planned.train.ops.size(); ++i) {
    const fsdp::PlanOp& op = planned.train.ops[i];
    const auto position = static_cast<std::size_t>(op.trace_position);
    if (fsdp::is_mark(op.kind)) {
      EXPECT_EQ(order.of_op[i], order.of_event[position] + 1);
    } else {
      EXPECT_EQ(order.of_op[i], order.of_op[i - 1] + 1);
      EXPECT_LT(order.of_op[i], order.of_event[position]);
    }
  }
  EXPECT_EQ(order.of_op[0], 0);
  EXPECT_EQ(order.of_op.back(), order.of_event.back() + 1);
}

TEST(EnqueueOrder, Leases_BeginAndEndWhereTheyAreTakenAndGivenBack) {
  const PlanCase planned("chain", make_chain(2, 100), 2, 1);
  const fsdp::Plan& plan = planned.train;
  const fsdp::EnqueueOrder order = fsdp::enqueue_order(plan, planned.train_trace);
  for (int lease = 0; lease < static_cast<int>(plan.leases.size()); ++lease) {
    const fsdp::Lease& held = plan.leases[static_cast<std::size_t>(lease)];
    const std::vector<int>& places = lease < plan.num_activation_leases ? order.of_event : order.of_op;
    EXPECT_EQ(order.begin_of(plan, lease), places[static_cast<std::size_t>(held.begin)]);
    EXPECT_EQ(order.end_of(plan, lease), places[static_cast<std::size_t>(held.end)]);
    EXPECT_LT(order.begin_of(plan, lease), order.end_of(plan, lease));
  }
}

}  // namespace
}  // namespace shoal::test
