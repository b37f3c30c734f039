#include "shoal/runtime/train/trainer.h"

#include <cmath>
#include <stdexcept>

#include "shoal/runtime/train/data_registry.h"
#include "shoal/runtime/train/synthetic_dataset.h"
#include "shoal/tests/runtime/train/expect_error.h"
#include "shoal/tests/runtime/train/recording_listener.h"

namespace shoal::train {
namespace {

using test::expect_error;
using test::RecordingListener;

TrainConfig config_of(const std::string& model, std::int64_t steps, int ranks = 2) {
  TrainConfig config;
  config.model = model;
  config.data = "synthetic";
  config.ranks = ranks;
  config.threads = 1;
  config.batch = 12;
  config.steps = steps;
  config.seed = 3;
  return config;
}

std::shared_ptr<const Dataset> small_data(const std::string& model, std::int64_t train_size = 48,
                                          std::int64_t test_size = 30) {
  return std::make_shared<SyntheticDataset>(
      expected_sample("synthetic", model), SyntheticDataset::Options{.train_size = train_size, .test_size = test_size});
}

TrainSummary train_quietly(const TrainConfig& config) {
  RecordingListener listener;
  return run_training(resolve_config(config), small_data(config.model), listener);
}

TEST(RunTraining, Events_ComeInOrder) {
  RecordingListener listener;
  const TrainConfig config = config_of("chain-3x64", 10);
  // Four steps are an epoch: evaluations after steps 4, 8 and 10.
  const TrainSummary summary = run_training(resolve_config(config), small_data("chain-3x64"), listener);
  const std::vector<std::string> expected = {"start", "step", "step", "step", "step", "eval", "step", "step",
                                             "step",  "step", "eval", "step", "step", "eval", "done"};
  EXPECT_EQ(listener.words, expected);
  for (std::size_t i = 0; i < listener.steps.size(); ++i) {
    EXPECT_EQ(listener.steps[i].step, static_cast<std::int64_t>(i) + 1);
    EXPECT_TRUE(std::isfinite(listener.steps[i].grad_norm));
    EXPECT_GT(listener.steps[i].items_per_s, 0);
  }
  EXPECT_EQ(listener.total_steps, 10);
  EXPECT_EQ(listener.num_parameters, 3 * (64 * 64 + 64));
  EXPECT_EQ(summary.steps, 10);
  EXPECT_FALSE(summary.is_stopped);
  EXPECT_EQ(summary.loss, listener.steps.back().loss);
  EXPECT_FALSE(summary.accuracy) << "vectors have no accuracy";
}

TEST(RunTraining, LearnsByHeart) {
  TrainConfig config = config_of("mlp", 60);
  config.optimizer = "adamw";
  RecordingListener listener;
  run_training(resolve_config(config), small_data("mlp"), listener);
  EXPECT_LT(listener.steps.back().loss, 0.25 * listener.steps.front().loss);
}

TEST(RunTraining, SameConfig_GivesTheSameBits) {
  for (const char* model : {"mlp", "gpt-1x64", "resnet9-4"}) {
    const TrainConfig config = config_of(model, 3);
    const TrainSummary first = train_quietly(config);
    EXPECT_EQ(first.weights_hash, train_quietly(config).weights_hash) << model;
    EXPECT_NE(first.weights_hash, first.state_hash) << model;
    TrainConfig other = config;
    other.seed = 4;
    EXPECT_NE(first.weights_hash, train_quietly(other).weights_hash) << model;
  }
}

TEST(RunTraining, StrategyPrefetchAndWorkers_ChangeNoBit) {
  for (const char* model : {"chain-3x64", "resnet9-4"}) {
    const TrainSummary expected = train_quietly(config_of(model, 4));
    TrainConfig none = config_of(model, 4);
    none.strategy = "none";
    EXPECT_EQ(train_quietly(none).state_hash, expected.state_hash) << model;
    TrainConfig deep = config_of(model, 4);
    deep.prefetch = 3;
    EXPECT_EQ(train_quietly(deep).state_hash, expected.state_hash) << model;
    TrainConfig workers = config_of(model, 4);
    workers.threads = 2;
    EXPECT_EQ(train_quietly(workers).state_hash, expected.state_hash) << model;
  }
}

TEST(RunTraining, PredictedPeak_IsTheMeasuredPeak) {
  for (const char* model : {"mlp", "chain-3x64", "gpt-1x64", "resnet9-4"}) {
    for (const char* strategy : {"none", "full"}) {
      for (const int ranks : {1, 3}) {
        TrainConfig config = config_of(model, 5, ranks);
        config.strategy = strategy;
        RecordingListener listener;
        TrainOptions options;
        options.sample_length = 2;  // a language model's window counts too
        const TrainSummary summary = run_training(resolve_config(config), small_data(model), listener, options);
        ASSERT_EQ(summary.peak_bytes.size(), static_cast<std::size_t>(ranks));
        for (int rank = 0; rank < ranks; ++rank) {
          const auto at = static_cast<std::size_t>(rank);
          for (int tag = 0; tag < kNumMemoryTags; ++tag) {
            const auto memory_tag = static_cast<MemoryTag>(tag);
            EXPECT_EQ(summary.peak_bytes[at][memory_tag], summary.predicted_bytes[at][memory_tag])
                << model << " " << strategy << " rank " << rank << " of " << ranks << ": "
                << memory_tag_name(memory_tag);
          }
          EXPECT_EQ(summary.peak_bytes[at].total, summary.predicted_bytes[at].total)
              << model << " " << strategy << " rank " << rank << " of " << ranks;
        }
      }
    }
  }
}

TEST(RunTraining, Evaluation_CountsEverySampleOnce) {
  RecordingListener listener;
  // 30 test samples in batches of 12: the last is padded with 6.
  run_training(resolve_config(config_of("mlp", 4)), small_data("mlp", 48, 30), listener);
  ASSERT_EQ(listener.evals.size(), 1u);
  const double correct = *listener.evals[0].accuracy * 30;
  EXPECT_EQ(correct, std::round(correct)) << "the accuracy is no share of 30 samples";
  EXPECT_TRUE(std::isfinite(listener.evals[0].loss));
}

TEST(RunTraining, Evaluation_DoesNotDependOnTheBatch) {
  // Weights that don't move are the same in both runs; so is the loss, but for the order of its sum.
  std::vector<double> losses;
  for (const std::int64_t batch : {12, 30}) {
    TrainConfig config = config_of("mlp", 1);
    config.lr = 0;
    config.batch = batch;
    RecordingListener listener;
    run_training(resolve_config(config), small_data("mlp", 60, 30), listener);
    losses.push_back(listener.evals.at(0).loss);
  }
  EXPECT_FLOAT_EQ(static_cast<float>(losses[0]), static_cast<float>(losses[1]));
}

TEST(RunTraining, TestSplitThatFillsNoBatchOfVectors_IsWarnedOf) {
  RecordingListener listener;
  run_training(resolve_config(config_of("chain-2x64", 2)), small_data("chain-2x64", 48, 5), listener);
  EXPECT_TRUE(listener.evals.empty());
  bool has_warned = false;
  for (const std::string& warning : listener.warnings) has_warned |= warning.find("no evaluation") != std::string::npos;
  EXPECT_TRUE(has_warned);
}

TEST(RunTraining, LossThatIsNotFinite_NamesTheStep) {
  TrainConfig config = config_of("chain-3x64", 20);
  config.lr = 1e30;
  expect_error(ErrorCode::InvalidArgument, {"[train] the loss of step", "--lr", "1e+30"},
               [&] { train_quietly(config); });
}

TEST(RunTraining, StopRequest_EndsAllRanksBetweenSteps) {
  for (const int ranks : {1, 2, 3}) {
    std::stop_source source;
    RecordingListener listener;
    listener.hear_step = [&](const StepEvent& event) {
      if (event.step == 3) source.request_stop();
    };
    TrainOptions options;
    options.stop = source.get_token();
    TrainConfig config = config_of("chain-3x64", 1000, ranks);
    const TrainSummary summary =
        run_training(resolve_config(config), small_data("chain-3x64", 12000), listener, options);
    EXPECT_TRUE(summary.is_stopped);
    EXPECT_GE(summary.steps, 3);
    EXPECT_LE(summary.steps, 7);
    EXPECT_EQ(listener.words.back(), "done");
    EXPECT_EQ(listener.steps.back().step, summary.steps);
  }
}

TEST(RunTraining, StopRequestedBeforeTheStart_StillEndsCleanly) {
  std::stop_source source;
  source.request_stop();
  TrainOptions options;
  options.stop = source.get_token();
  RecordingListener listener;
  const TrainSummary summary =
      run_training(resolve_config(config_of("chain-3x64", 100)), small_data("chain-3x64"), listener, options);
  EXPECT_TRUE(summary.is_stopped);
  EXPECT_LE(summary.steps, 3);
}

TEST(RunTraining, ListenerThatThrows_EndsTheRunWithItsError) {
  RecordingListener listener;
  listener.hear_step = [](const StepEvent&) { fail(ErrorCode::DeviceFailure, "[output] the disk is full"); };
  expect_error(ErrorCode::DeviceFailure, {"[output] the disk is full"},
               [&] { run_training(resolve_config(config_of("chain-3x64", 100)), small_data("chain-3x64"), listener); });
}

TEST(RunTraining, MemoryLimit_IsAnErrorWithTheTable) {
  TrainConfig config = config_of("chain-3x64", 5);
  config.memory_limit = 50000;
  expect_error(ErrorCode::OutOfMemory, {"50000"}, [&] { train_quietly(config); });
}

TEST(RunTraining, BatchBeyondTheData_IsRefusedBeforeTheStart) {
  RecordingListener listener;
  TrainConfig config = config_of("chain-3x64", 5);
  config.batch = 60;
  expect_error(ErrorCode::InvalidArgument, {"batch of 60", "1 to 48"},
               [&] { run_training(resolve_config(config), small_data("chain-3x64"), listener); });
  EXPECT_TRUE(listener.words.empty());
}

TEST(RunTraining, LanguageModel_WritesWhereItIsAskedTo) {
  RecordingListener listener;
  TrainOptions options;
  options.sample_length = 5;
  const TrainConfig config = resolve_config(config_of("gpt-1x64", 2));
  EXPECT_EQ(run_training(config, small_data("gpt-1x64"), listener, options).sample.size(), 5u);
  EXPECT_TRUE(run_training(config, small_data("gpt-1x64"), listener).sample.empty());
}

}  // namespace
}  // namespace shoal::train
