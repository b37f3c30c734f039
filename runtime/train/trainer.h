#pragma once

#include <memory>
#include <stop_token>

#include "shoal/runtime/base/log.h"
#include "shoal/runtime/train/dataset.h"
#include "shoal/runtime/train/train_events.h"

namespace shoal::train {

struct TrainOptions {
  std::stop_token stop;            // ends the run between two steps, the same two on every rank
  LogSink log;                     // of the Runtime that the run makes
  std::int64_t sample_length = 0;  // bytes of text that a language model writes at the end
};

/// Trains as `config` (from resolve_config) says, with one thread per rank, and evaluates the test split after each
/// epoch and at the end. Everything that can be refused is refused before `listener` hears of the start; nothing of the
/// model's size is allocated before that.
///
/// A run depends on config and data only: neither the listener nor the number of workers changes a bit of its result.
/// Throws the first error of any rank, with the rank; InvalidArgument, naming the step, where the loss is not finite;
/// what `listener` throws; Timeout beginning with "[launch_ranks]" where a rank is stuck: its thread goes on, and may
/// use `listener`, so the process should end.
TrainSummary run_training(const TrainConfig& config, std::shared_ptr<const Dataset> dataset, TrainListener& listener,
                          const TrainOptions& options = {});

}  // namespace shoal::train
