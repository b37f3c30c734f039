#include "shoal/runtime/fsdp/planned_model.h"

#include <gtest/gtest.h>

#include "shoal/nn/models/registry.h"
#include "shoal/tests/support/sharded/workloads.h"

namespace shoal::test {
namespace {

fsdp::PlannedModel plan_gpt2(int world_size, fsdp::Strategy strategy) {
  const nn::ModelInputs inputs;
  const auto model = nn::make_model("gpt2-124m", inputs);
  fsdp::ShardOptions options;
  options.policies.strategy = strategy;
  options.train_batch = nn::make_batch_spec("gpt2-124m", inputs, 1);
  return fsdp::plan_model(*model, options, world_size, 1, 2);
}

TEST(PlannedModel, Gpt2_OnEightRanks_IsPlannedWithoutBeingAllocated) {
  const fsdp::PlannedModel planned = plan_gpt2(8, fsdp::Strategy::Full);
  EXPECT_EQ(planned.num_parameters(), 124475904);
  const std::int64_t shard_bytes = planned.persistent[MemoryTag::Parameters];
  EXPECT_GE(shard_bytes * 8, planned.num_parameters() * 4);
  EXPECT_EQ(planned.persistent[MemoryTag::Gradients], shard_bytes);
  EXPECT_EQ(planned.persistent[MemoryTag::OptimizerState], 2 * shard_bytes);
  EXPECT_GT(planned.train.proof.num_gathers, 24);
  EXPECT_NE(planned.describe().find("blocks.11"), std::string::npos);
}

TEST(PlannedModel, TheArena_IsHardlyLargerThanTheLeasesThatLiveAtOnce) {
  for (const fsdp::Strategy strategy : {fsdp::Strategy::None, fsdp::Strategy::Full}) {
    const fsdp::PlannedModel planned = plan_gpt2(2, strategy);
    // The process may grow by 1.05 times the predicted total, so the arena must waste less than that.
    EXPECT_LE(static_cast<double>(planned.arena_bytes), 1.05 * static_cast<double>(planned.train.lease_peak.total));
  }
}

TEST(PlannedModel, TheArena_HoldsAnyFlatParameter_EvenOneThatNoPassTouches) {
  fsdp::ShardOptions options;
  options.train_batch = {{2, 5}, DType::I32, {2, 5}, DType::I32};
  const auto model = make_awkward_model();
  for (nn::Parameter* parameter : model->parameters()) {
    parameter->is_trainable = parameter->name != "inner.unused" && parameter->name != "frozen.weight";
  }
  options.policies.wrap_types = {"Inner"};
  const fsdp::PlannedModel planned = fsdp::plan_model(*model, options, 64, 1, 2);
  for (const fsdp::FlatParameter& flat : planned.units.flats) {
    EXPECT_GE(planned.arena_bytes, 4 * flat.layout.full_numel());
  }
}

TEST(PlannedModel, Fingerprint_TellsPlansApart) {
  EXPECT_EQ(plan_gpt2(2, fsdp::Strategy::Full).fingerprint(), plan_gpt2(2, fsdp::Strategy::Full).fingerprint());
  EXPECT_NE(plan_gpt2(2, fsdp::Strategy::Full).fingerprint(), plan_gpt2(3, fsdp::Strategy::Full).fingerprint());
}

}  // namespace
}  // namespace shoal::test
