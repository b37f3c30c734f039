#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "shoal/runtime/fsdp/sharded_model.h"
#include "shoal/runtime/train/input_ring.h"
#include "shoal/runtime/train/launcher.h"
#include "shoal/runtime/train/prefetcher.h"
#include "shoal/runtime/train/run_setup.h"
#include "shoal/runtime/train/sampler.h"
#include "shoal/runtime/train/stop_agreement.h"
#include "shoal/runtime/train/train_events.h"

namespace shoal::train {

/// What the ranks of one run share. All but `stop` and each rank's own place in `summaries` is constant while they run.
struct SharedRun {
  TrainConfig config;
  std::shared_ptr<const Dataset> dataset;
  ModelSetup setup;
  RunLength length;
  Sampler sampler;
  std::uint64_t plan_fingerprint = 0;
  std::int64_t sample_length = 0;
  TrainListener* listener = nullptr;  // called by rank 0 only
  StopAgreement stop;
  std::vector<TrainSummary> summaries;  // by rank
};

/// One rank's part of a run: its model, its slices of the batches, and the loop over them.
class RankTrainer {
 public:
  RankTrainer(SharedRun& run, RankContext& rank);

  /// Trains, evaluates, and leaves this rank's summary in the shared run.
  void train();

 private:
  using Clock = std::chrono::steady_clock;

  bool is_first() const { return rank_.rank == 0; }
  bool may_go_on();
  void train_steps(std::int64_t first, std::int64_t count);
  void hear_report(const fsdp::StepReport& report);
  void evaluate();
  void evaluate_batches(Prefetcher& batches, std::int64_t num_batches);
  void finish();
  Prefetcher prefetch(Split split, std::int64_t first, std::int64_t count);
  std::chrono::milliseconds deadline() const { return rank_.device.default_deadline(); }

  SharedRun& run_;
  RankContext& rank_;
  std::unique_ptr<nn::Model> model_;
  InputRing inputs_;
  std::optional<InputRing> window_;  // for text that the model writes
  fsdp::ShardedModel sharded_;
  std::int64_t iterations_ = 0;  // steps and evaluation batches, for the agreement on stopping
  Clock::time_point last_report_;
  double train_seconds_ = 0;
  double num_items_ = 0;
  TrainSummary summary_;
};

}  // namespace shoal::train
