#include <gtest/gtest.h>

#include "shoal/nn/models/resnet.h"
#include "shoal/tests/support/sharded/workloads.h"

namespace shoal::test {
namespace {

using collectives::CollectiveKind;

std::int64_t calls(const collectives::CollectiveCounters& counters, CollectiveKind kind) {
  return counters.calls[static_cast<std::size_t>(kind)];
}

/// What a run of `steps` steps and one evaluation adds to the traffic after set-up.
fsdp::ShardedModel::Traffic traffic_of(const ShardedRun& base) {
  ShardedRun run = base;
  fsdp::ShardedModel::Traffic before;
  fsdp::ShardedModel::Traffic after;
  std::mutex turn;
  std::map<const fsdp::ShardedModel*, int> visits;
  run.inspect = [&](fsdp::ShardedModel& model, Device&) {
    const std::lock_guard lock(turn);
    (visits[&model]++ == 0 ? before : after) = model.traffic();
  };
  run_sharded(run);
  for (int kind = 0; kind < collectives::kNumCollectiveKinds; ++kind) {
    const auto k = static_cast<std::size_t>(kind);
    after.gather.calls[k] -= before.gather.calls[k];
    after.reduce.calls[k] -= before.reduce.calls[k];
  }
  return after;
}

TEST(BatchNormTraffic, StatisticsTakeOneAllReduceAStep_AndGatherNoParameter) {
  constexpr int kSteps = 3;
  ShardedRun run = run_of(small_workload("resnet"), 2);
  run.steps = kSteps;
  run.policies.prefetch = 1;
  const fsdp::ShardedModel::Traffic traffic = traffic_of(run);
  // Seven units: each is gathered for its forward and for its backward, and nothing else is gathered, although every
  // step moves the statistics of nine batch norms. (Reading the hashes afterwards uses plain all-gathers.)
  constexpr int kUnits = 7;
  EXPECT_EQ(calls(traffic.gather, CollectiveKind::WindowGather), kSteps * 2 * kUnits);
  EXPECT_EQ(calls(traffic.reduce, CollectiveKind::ReduceScatter), kSteps * kUnits);
  // A step: the loss's sums, the statistics, the norm.
  EXPECT_EQ(calls(traffic.reduce, CollectiveKind::AllReduce), kSteps * 3);
}

TEST(BatchNormTraffic, EvaluationReadsRunningStatistics_WithoutACollectiveOfTheirOwn) {
  ShardedRun run = run_of(small_workload("resnet"), 2);
  run.steps = 0;
  run.evaluates = true;
  const fsdp::ShardedModel::Traffic traffic = traffic_of(run);
  EXPECT_EQ(calls(traffic.gather, CollectiveKind::WindowGather), 7);
  EXPECT_EQ(calls(traffic.reduce, CollectiveKind::AllReduce), 1);
}

TEST(BatchNormTraffic, AModelWithoutStatistics_ReducesNone) {
  ShardedRun run = run_of(small_workload("gpt"), 2);
  run.steps = 1;
  EXPECT_EQ(calls(traffic_of(run).reduce, CollectiveKind::AllReduce), 2);
}

TEST(BatchNormTraffic, OneRank_SendsNothing) {
  ShardedRun run = run_of(small_workload("resnet"), 1);
  run.evaluates = true;
  const fsdp::ShardedModel::Traffic traffic = traffic_of(run);
  EXPECT_EQ(calls(traffic.gather, CollectiveKind::WindowGather), 0);
  EXPECT_EQ(traffic.reduce.total_calls(), 0);
}

}  // namespace
}  // namespace shoal::test
