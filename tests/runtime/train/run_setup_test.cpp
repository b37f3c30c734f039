#include "shoal/runtime/train/run_setup.h"

#include "shoal/runtime/train/data_registry.h"
#include "shoal/runtime/train/input_ring.h"
#include "shoal/tests/runtime/train/expect_error.h"

namespace shoal::train {
namespace {

ModelSetup setup_of(const std::string& model, int ranks, bool predicts = false) {
  TrainConfig config;
  config.model = model;
  config.data = "synthetic";
  config.ranks = ranks;
  config.threads = 1;
  config.batch = 12;
  config.prefetch = 2;
  return model_setup(resolve_config(config), expected_sample("synthetic", model), predicts);
}

TEST(ModelSetup, BatchesAreOneRanks) {
  const ModelSetup setup = setup_of("gpt-1x64", 3);
  EXPECT_EQ(setup.shard.train_batch.inputs, (Shape{4, 256}));
  EXPECT_EQ(setup.shard.evaluate_batch->targets, (Shape{4, 256}));
  EXPECT_FALSE(setup.shard.predict_batch);
  EXPECT_EQ(setup.shard.policies.prefetch, 2);
  EXPECT_EQ(setup_of("gpt-1x64", 3, true).shard.predict_batch->inputs, (Shape{1, 256}));
}

TEST(WithInputs, AddsEveryBatchThatIsHeld) {
  const ModelSetup setup = setup_of("gpt-1x64", 3, true);
  EXPECT_EQ(input_bytes(setup), kInputSlots * 2 * 4 * 256 * 4 + 2 * 256 * 4);
  MemoryBytes model;
  model.total = 100;
  EXPECT_EQ(with_inputs(model, setup).total, 100 + input_bytes(setup));
  EXPECT_EQ(with_inputs(model, setup)[MemoryTag::Inputs], input_bytes(setup));
}

TEST(PlanRun, IsTheSameEachTimeAndDependsOnTheRanks) {
  EXPECT_EQ(plan_run(setup_of("mlp", 2)).fingerprint(), plan_run(setup_of("mlp", 2)).fingerprint());
  EXPECT_NE(plan_run(setup_of("mlp", 2)).fingerprint(), plan_run(setup_of("mlp", 3)).fingerprint());
}

TEST(PlanRun, FullStrategy_HoldsLessThanNone) {
  ModelSetup setup = setup_of("chain-20x256", 4);
  const std::int64_t full = plan_run(setup).predicted.total;
  setup.shard.policies.strategy = fsdp::Strategy::None;
  EXPECT_LT(full, plan_run(setup).predicted.total);
}

TEST(MakeModel, DataThatTheModelCannotTake_IsRefused) {
  ModelSetup setup = setup_of("resnet9-4", 2);
  setup.inputs.height = 4;
  test::expect_error(ErrorCode::InvalidArgument, {"resnet9-4", "4 x 28"}, [&] { make_model(setup); });
}

}  // namespace
}  // namespace shoal::train
