#include "shoal/runtime/train/trainer.h"

#include <chrono>
#include <cmath>
#include <future>
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

// Two steps and one evaluation of one batch.
TrainSummary train_briefly(TrainConfig config, std::int64_t sample_length = 0) {
  config.batch = 6;
  config.steps = 2;
  RecordingListener listener;
  TrainOptions options;
  options.sample_length = sample_length;
  return run_training(resolve_config(config), small_data(config.model, 12, 6), listener, options);
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
  TrainConfig config = config_of("mlp", 30);
  config.optimizer = "adamw";
  RecordingListener listener;
  run_training(resolve_config(config), small_data("mlp", 12, 6), listener);
  EXPECT_LT(listener.steps.back().loss, 0.25 * listener.steps.front().loss);
}

TEST(RunTraining, SameConfig_GivesTheSameBits) {
  for (const char* model : {"mlp", "gpt-1x64", "resnet9-4"}) {
    const TrainConfig config = config_of(model, 2);
    const TrainSummary first = train_briefly(config);
    EXPECT_EQ(first.weights_hash, train_briefly(config).weights_hash) << model;
    EXPECT_NE(first.weights_hash, first.state_hash) << model;
    TrainConfig other = config;
    other.seed = 4;
    EXPECT_NE(first.weights_hash, train_briefly(other).weights_hash) << model;
  }
}

TEST(RunTraining, StrategyPrefetchAndWorkers_ChangeNoBit) {
  for (const char* model : {"chain-3x64", "resnet9-4"}) {
    const TrainSummary expected = train_briefly(config_of(model, 2));
    TrainConfig none = config_of(model, 2);
    none.strategy = "none";
    EXPECT_EQ(train_briefly(none).state_hash, expected.state_hash) << model;
    TrainConfig deep = config_of(model, 2);
    deep.prefetch = 3;
    EXPECT_EQ(train_briefly(deep).state_hash, expected.state_hash) << model;
    TrainConfig workers = config_of(model, 2);
    workers.threads = 2;
    EXPECT_EQ(train_briefly(workers).state_hash, expected.state_hash) << model;
  }
}

void expect_equal_bytes(const MemoryBytes& measured, const MemoryBytes& predicted, const std::string& run) {
  for (int index = 0; index < kNumMemoryTags; ++index) {
    const auto tag = static_cast<MemoryTag>(index);
    EXPECT_EQ(measured[tag], predicted[tag]) << run << ": " << memory_tag_name(tag);
  }
  EXPECT_EQ(measured.total, predicted.total) << run;
}

TEST(RunTraining, PredictedPeak_IsTheMeasuredPeak) {
  for (const std::string model : {"mlp", "chain-3x64", "gpt-1x64", "resnet9-4"}) {
    for (const std::string strategy : {"none", "full"}) {
      for (const int ranks : {1, 3}) {
        TrainConfig config = config_of(model, 2, ranks);
        config.strategy = strategy;
        const TrainSummary summary = train_briefly(config, 1);  // a language model's window counts too
        ASSERT_EQ(summary.peak_bytes.size(), static_cast<std::size_t>(ranks));
        for (std::size_t rank = 0; rank < summary.peak_bytes.size(); ++rank) {
          expect_equal_bytes(summary.peak_bytes[rank], summary.predicted_bytes[rank],
                             model + " " + strategy + " rank " + std::to_string(rank));
        }
      }
    }
  }
}

TEST(RunTraining, Evaluation_CountsEverySampleOnce) {
  RecordingListener listener;
  // 30 test samples in batches of 12: the last is padded with 6.
  run_training(resolve_config(config_of("mlp", 1)), small_data("mlp", 12, 30), listener);
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
  RecordingListener listener;
  expect_error(ErrorCode::InvalidArgument, {"[train] the loss of step", "--lr", "1e+30"},
               [&] { run_training(resolve_config(config), small_data(config.model), listener); });
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

TEST(RunTraining, MemoryLimit_IsHeldAgainstThePlanToTheByte) {
  TrainConfig config = config_of("chain-3x64", 5);
  const std::int64_t needed = train_briefly(config).peak_bytes.at(0).total;
  config.memory_limit = needed;
  EXPECT_EQ(train_briefly(config).peak_bytes.at(0).total, needed);
  config.memory_limit = needed - 1;
  const std::string flag = "--memory-limit " + std::to_string(needed - 1);
  RecordingListener listener;
  config.batch = 6;
  expect_error(ErrorCode::InvalidArgument, {flag, std::to_string(needed) + " bytes per rank", "parameters ", "--batch"},
               [&] { run_training(resolve_config(config), small_data(config.model, 12, 6), listener); });
  EXPECT_TRUE(listener.words.empty()) << "refused after the start";
}

// Gives no sample before it is told to; tells when it is gone, and so every rank that used it.
class HangingData final : public Dataset {
 public:
  HangingData(std::shared_future<void> start, std::promise<void> gone)
      : Dataset("hanging", expected_sample("synthetic", "chain-2x64"), "rows"),
        start_(std::move(start)),
        gone_(std::move(gone)) {}
  ~HangingData() override { gone_.set_value(); }

  std::int64_t size(Split) const override { return 12; }

 protected:
  void fill_sample(Split, std::int64_t, void*, void*) const override { start_.wait(); }

 private:
  std::shared_future<void> start_;
  std::promise<void> gone_;
};

TEST(RunTraining, DataThatHangs_IsATimeoutOnEveryRank) {
  for (const int ranks : {1, 2}) {
    std::promise<void> start, gone;
    std::future<void> is_gone = gone.get_future();
    TrainConfig config = config_of("chain-2x64", 3, ranks);
    config.deadline_s = 0.1;
    RecordingListener listener;
    expect_error(ErrorCode::Timeout, {"[launch_ranks]", "is stuck", "[prefetch] item 0"}, [&] {
      run_training(resolve_config(config), std::make_shared<HangingData>(start.get_future(), std::move(gone)),
                   listener);
    });
    start.set_value();
    EXPECT_EQ(is_gone.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  }
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
  EXPECT_EQ(train_briefly(config_of("gpt-1x64", 2), 5).sample.size(), 5u);
  EXPECT_TRUE(train_briefly(config_of("gpt-1x64", 2)).sample.empty());
}

}  // namespace
}  // namespace shoal::train
