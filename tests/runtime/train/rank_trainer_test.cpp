#include "shoal/runtime/train/rank_trainer.h"

#include "shoal/runtime/train/data_registry.h"
#include "shoal/runtime/train/synthetic_dataset.h"
#include "shoal/tests/runtime/train/expect_error.h"
#include "shoal/tests/runtime/train/recording_listener.h"

namespace shoal::train {
namespace {

class RankTrainerTest : public ::testing::Test {
 protected:
  std::shared_ptr<SharedRun> make_run(int ranks) {
    TrainConfig config;
    config.model = "chain-2x64";
    config.ranks = ranks;
    config.threads = 1;
    config.batch = 6;
    config.steps = 4;
    config = resolve_config(config);
    const auto data = std::make_shared<SyntheticDataset>(expected_sample("synthetic", config.model),
                                                         SyntheticDataset::Options{.train_size = 24, .test_size = 12});
    const ModelSetup setup = model_setup(config, data->sample(), false);
    const Sampler sampler(*data, config.seed, *config.batch);
    auto run = std::shared_ptr<SharedRun>(
        new SharedRun{.config = config,
                      .dataset = data,
                      .setup = setup,
                      .length = run_length_of(config, sampler.steps_per_epoch()),
                      .sampler = sampler,
                      .plan_fingerprint = plan_run(setup).fingerprint(),
                      .sample_length = 0,
                      .listener = &listener_,
                      .stop = StopAgreement({}, 1),
                      .summaries = std::vector<TrainSummary>(static_cast<std::size_t>(ranks))});
    return run;
  }

  static void launch(const std::shared_ptr<SharedRun>& run) {
    launch_ranks(Runtime(), {.num_ranks = run->config.ranks, .backend = run->config.backend},
                 [run](RankContext& rank) { RankTrainer(*run, rank).train(); });
  }

  test::RecordingListener listener_;
};

TEST_F(RankTrainerTest, EveryRank_LeavesTheSameSummaryButItsMemory) {
  const auto run = make_run(3);
  launch(run);
  for (const TrainSummary& summary : run->summaries) {
    EXPECT_EQ(summary.steps, 4);
    EXPECT_EQ(summary.loss, run->summaries[0].loss);
    EXPECT_EQ(summary.weights_hash, run->summaries[0].weights_hash);
    EXPECT_EQ(summary.state_hash, run->summaries[0].state_hash);
    EXPECT_EQ(summary.peak_bytes.size(), 1u);
  }
}

TEST_F(RankTrainerTest, RankZero_ReportsForAll) {
  launch(make_run(2));
  EXPECT_EQ(listener_.steps.size(), 4u);
  EXPECT_EQ(listener_.evals.size(), 1u);
}

TEST_F(RankTrainerTest, PlanThatDiffersFromTheRuns_IsAnError) {
  const auto run = make_run(2);
  run->plan_fingerprint ^= 1;
  test::expect_error(ErrorCode::Internal, {"planned", "the same plan"}, [&] { launch(run); });
}

}  // namespace
}  // namespace shoal::train
