#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shoal/runtime/device/memory_ledger.h"
#include "shoal/runtime/train/train_config.h"

namespace shoal::train {

/// What is known before the first byte of the model is allocated.
struct StartEvent {
  const TrainConfig& config;  // resolved
  std::string item_name;      // "images", "tokens", "rows"
  std::int64_t num_parameters = 0;
  std::int64_t total_steps = 0;
  std::int64_t steps_per_epoch = 0;
  std::uint64_t plan_fingerprint = 0;
};

/// One step, reported once all of it has run.
struct StepEvent {
  std::int64_t step = 0;  // 1 for the first
  double loss = 0;        // mean over the global batch
  double lr = 0;
  double grad_norm = 0;
  double ms = 0;  // since the step before was reported
  double items_per_s = 0;
};

/// The test split, after an epoch or at the end.
struct EvalEvent {
  std::int64_t step = 0;
  double loss = 0;
  std::optional<double> accuracy;  // none where targets are vectors
};

/// What a run came to.
struct TrainSummary {
  std::int64_t steps = 0;
  bool is_stopped = false;                   // by the stop token, before its end
  double loss = 0;                           // of the last step
  std::optional<double> accuracy;            // of the last evaluation
  double items_per_s = 0;                    // over all steps; evaluation and set-up not counted
  std::vector<MemoryBytes> peak_bytes;       // by rank
  std::vector<MemoryBytes> predicted_bytes;  // by rank
  std::uint64_t weights_hash = 0;
  std::uint64_t state_hash = 0;
  std::string sample;  // text that a language model wrote, where it was asked to
};

/// Hears what a run does. Called from the thread that runs run_training and from rank 0's, never from two at once. What
/// it throws ends the run.
class TrainListener {
 public:
  virtual ~TrainListener() = default;
  virtual void on_start(const StartEvent& event) = 0;
  virtual void on_step(const StepEvent& event) = 0;
  virtual void on_eval(const EvalEvent& event) = 0;
  virtual void on_warning(std::string_view message) = 0;
  virtual void on_done(const TrainSummary& summary) = 0;
};

}  // namespace shoal::train
