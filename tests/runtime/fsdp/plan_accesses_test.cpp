#include "shoal/runtime/fsdp/plan_accesses.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "shoal/tests/support/plan_cases.h"

namespace shoal::test {
namespace {

using fsdp::Access;
using fsdp::OpKind;
using fsdp::Resource;

std::vector<Access> accesses_of(const PlanCase& planned, const fsdp::Plan& plan) {
  const fsdp::Trace& trace = planned.trace_of(plan);
  return fsdp::list_accesses(plan, trace, planned.units, fsdp::enqueue_order(plan, trace));
}

std::vector<Access> accesses_by(const PlanCase& planned, const fsdp::Plan& plan, OpKind kind) {
  std::vector<Access> found = accesses_of(planned, plan);
  std::erase_if(found,
                [&](const Access& a) { return a.op < 0 || plan.ops[static_cast<std::size_t>(a.op)].kind != kind; });
  return found;
}

TEST(PlanAccesses, Conflict_NeedsTheSameBytesAndAWriter) {
  Access a{.resource = Resource::Arena, .begin = 0, .end = 10, .writes = true};
  Access b{.resource = Resource::Arena, .begin = 9, .end = 20, .writes = false};
  EXPECT_TRUE(fsdp::is_conflict(a, b));
  b.begin = 10;
  EXPECT_FALSE(fsdp::is_conflict(a, b));
  b.begin = 9;
  a.writes = false;
  EXPECT_FALSE(fsdp::is_conflict(a, b));
  Access p{.resource = Resource::Parameters, .flat = 1, .begin = 0, .end = 10, .writes = true};
  Access q = p;
  EXPECT_TRUE(fsdp::is_conflict(p, q));
  q.flat = 2;
  EXPECT_FALSE(fsdp::is_conflict(p, q));
  q = p;
  q.resource = Resource::Gradients;
  EXPECT_FALSE(fsdp::is_conflict(p, q));
  // Leases of different flat parameters may lie on the same bytes.
  a = {.resource = Resource::Arena, .flat = 1, .begin = 0, .end = 10, .writes = true};
  b = {.resource = Resource::Arena, .flat = 2, .begin = 0, .end = 10, .writes = true};
  EXPECT_TRUE(fsdp::is_conflict(a, b));
}

TEST(PlanAccesses, Gather_ReadsItsShardAndFillsItsLease) {
  const PlanCase planned("chain", make_chain(2, 100), 2, 1);
  const std::vector<Access> found = accesses_by(planned, planned.train, OpKind::Gather);
  ASSERT_EQ(found.size(), 2U * 4);
  for (std::size_t i = 0; i < found.size(); i += 2) {
    const fsdp::PlanOp& op = planned.train.ops[static_cast<std::size_t>(found[i].op)];
    EXPECT_EQ(found[i].resource, Resource::Parameters);
    EXPECT_FALSE(found[i].writes);
    EXPECT_EQ(found[i].end, 4 * 64);
    EXPECT_EQ(found[i + 1].resource, Resource::Arena);
    EXPECT_TRUE(found[i + 1].writes);
    EXPECT_EQ(found[i + 1].lease, op.lease);
    EXPECT_EQ(found[i + 1].end - found[i + 1].begin, 4 * 128);
    EXPECT_EQ(found[i + 1].stream, StreamRole::Gather);
  }
}

TEST(PlanAccesses, Compute_TouchesTheParametersOwnBytes) {
  const PlanCase planned("tied", make_tied_transformer(1, 16, 64, 8), 2, 1);
  int num_reads = 0, num_writes = 0;
  for (const Access& access : accesses_of(planned, planned.train)) {
    if (access.op >= 0 || access.flat < 0) continue;
    const fsdp::Lease& lease = planned.train.leases[static_cast<std::size_t>(access.lease)];
    EXPECT_EQ(lease.flat, access.flat);
    EXPECT_GE(access.begin, lease.offset);
    EXPECT_LE(access.end, lease.offset + lease.bytes);
    EXPECT_EQ(lease.tag, access.writes ? MemoryTag::UnshardedGradients : MemoryTag::UnshardedParameters);
    (access.writes ? num_writes : num_reads) += 1;
  }
  const auto count = [&](fsdp::TraceKind kind) {
    return std::count_if(planned.train_trace.events.begin(), planned.train_trace.events.end(),
                         [&](const fsdp::TraceEvent& event) { return event.kind == kind; });
  };
  EXPECT_EQ(num_reads, count(fsdp::TraceKind::UseParameter));
  EXPECT_EQ(num_writes, count(fsdp::TraceKind::WriteGradient));
}

TEST(PlanAccesses, OfCompute_LieBetweenTwoOperationsOfCompute) {
  for (const auto& planned : make_plan_cases()) {
    const fsdp::Plan& plan = planned->train;
    const fsdp::EnqueueOrder order = fsdp::enqueue_order(plan, planned->train_trace);
    for (const Access& access : accesses_of(*planned, plan)) {
      ASSERT_GE(access.starts_after, 0);
      ASSERT_GE(access.done_by, access.starts_after);
      EXPECT_LT(access.begin, access.end);
      if (access.op >= 0) continue;
      EXPECT_EQ(access.stream, StreamRole::Compute);
      EXPECT_LT(order.of_op[static_cast<std::size_t>(access.starts_after)], access.first);
      EXPECT_GT(order.of_op[static_cast<std::size_t>(access.done_by)], access.last);
    }
  }
}

TEST(PlanAccesses, Replicated_WritesThePersistentGradients) {
  const PlanCase planned("none", make_chain(2, 100), 2, 1, fsdp::Strategy::None);
  for (const Access& access : accesses_of(planned, planned.train)) {
    EXPECT_TRUE(access.resource != Resource::Arena || access.flat == -1);
  }
  for (const Access& access : accesses_by(planned, planned.train, OpKind::Reduce)) {
    EXPECT_EQ(access.resource, Resource::Gradients);
    EXPECT_TRUE(access.writes);
    EXPECT_EQ(access.end, 4 * 128);
  }
}

TEST(PlanAccesses, EmptyParameters_AreNotTouched) {
  const PlanCase planned("empty", make_chain(2, 0), 2, 1);
  for (const Access& access : accesses_of(planned, planned.train)) {
    EXPECT_TRUE(access.resource == Resource::Sums || access.resource == Resource::StagedState || access.flat == -1);
  }
}

TEST(PlanAccesses, AwaitReaders_StandsForReadsOfAllShardsThatWillBeWritten) {
  const PlanCase planned("frozen", make_partly_frozen(), 2, 1);
  std::vector<int> flats;
  for (const Access& access : accesses_by(planned, planned.update, OpKind::AwaitReaders)) flats.push_back(access.flat);
  EXPECT_EQ(flats, (std::vector<int>{2, 4, 5}));
  EXPECT_FALSE(fsdp::follows_earlier_passes(OpKind::AwaitReaders));
  EXPECT_TRUE(fsdp::follows_earlier_passes(OpKind::Gather));
}

}  // namespace
}  // namespace shoal::test
