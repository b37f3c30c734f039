#include <gtest/gtest.h>

#include "shoal/runtime/fsdp/plan_cost.h"
#include "shoal/tests/support/sharded/workloads.h"

namespace shoal::test {
namespace {

using fsdp::Strategy;

void expect_equal(const MemoryBytes& predicted, const MemoryBytes& peak) {
  for (int tag = 0; tag < kNumMemoryTags; ++tag) {
    EXPECT_EQ(predicted[static_cast<MemoryTag>(tag)], peak[static_cast<MemoryTag>(tag)])
        << memory_tag_name(static_cast<MemoryTag>(tag));
  }
  EXPECT_EQ(predicted.total, peak.total);
}

class PredictedMemory : public testing::TestWithParam<int> {};

TEST_P(PredictedMemory, EqualsTheMeasuredPeak_ByTagAndInTotal_ForTenModels) {
  ASSERT_EQ(small_workloads().size(), 10U);
  for (const Workload& workload : small_workloads()) {
    for (const Strategy strategy : {Strategy::None, Strategy::Full}) {
      for (const int prefetch : {0, 2}) {
        SCOPED_TRACE(testing::Message() << workload.name << ", " << fsdp::strategy_name(strategy) << ", prefetch "
                                        << prefetch);
        ShardedRun run = run_of(workload, GetParam());
        run.policies = {.strategy = strategy, .prefetch = prefetch, .wrap_types = {}};
        run.steps = 2;
        run.evaluates = true;
        run.predicts = true;
        const ShardedResult result = run_sharded(run);
        for (std::size_t rank = 0; rank < result.peak.size(); ++rank) {
          expect_equal(result.predicted[rank], result.peak[rank]);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Product, PredictedMemory, testing::Values(1, 2, 3, 4));

TEST(PredictedMemory, Full_HoldsSixteenBytesPerShardElement) {
  ShardedRun run = run_of(small_workload("gpt"), 4);
  run.inspect = [](fsdp::ShardedModel& model, Device& device) {
    const MemoryBytes& live = device.ledger().live();
    const std::int64_t shard_bytes = live[MemoryTag::Parameters];
    EXPECT_EQ(live[MemoryTag::Gradients], shard_bytes);
    EXPECT_EQ(live[MemoryTag::OptimizerState], 2 * shard_bytes);
    EXPECT_GE(4 * shard_bytes, model.num_parameters() * 4);
    EXPECT_EQ(live[MemoryTag::UnshardedParameters], 0);
    EXPECT_EQ(live[MemoryTag::UnshardedGradients], 0);
    EXPECT_EQ(live[MemoryTag::Activations], 0);
    EXPECT_EQ(live[MemoryTag::Workspace], 0);
  };
  run_sharded(run);
}

}  // namespace
}  // namespace shoal::test
