#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "shoal/nn/models/registry.h"
#include "shoal/runtime/fsdp/planned_model.h"
#include "shoal/runtime/train/dataset.h"
#include "shoal/runtime/train/train_config.h"

namespace shoal::train {

/// What the config and the form of the data say about every rank's model. Plain data.
struct ModelSetup {
  std::string model;
  nn::ModelInputs inputs;
  fsdp::ShardOptions shard;  // batches are one rank's
  std::string optimizer;
  optim::RuleOptions rule;
  int ranks = 1;
  int threads = 1;
};

/// Batches whose memory a rank holds: one in the step that runs, one in the step that is enqueued behind it, and one
/// that is being filled.
inline constexpr int kInputSlots = 3;

/// Bytes of a rank's batches.
std::int64_t input_bytes(const ModelSetup& setup);

/// `model` and a rank's batches together, held at the same time.
MemoryBytes with_inputs(const MemoryBytes& model, const ModelSetup& setup);

/// From a resolved config. `predicts`: the model will also predict one sample at a time.
ModelSetup model_setup(const TrainConfig& config, const SampleSpec& sample, bool predicts);

/// A fresh model for the setup's data. Throws InvalidArgument where they do not fit together.
std::unique_ptr<nn::Model> make_model(const ModelSetup& setup);

/// Throws InvalidArgument, with the bytes by tag and what would lower them, where a rank's predicted peak is beyond the
/// config's memory limit.
void check_memory_limit(const TrainConfig& config, const MemoryBytes& predicted);

/// The plans that every rank will follow, proved. Allocates nothing of the model's size.
fsdp::PlannedModel plan_run(const ModelSetup& setup);

}  // namespace shoal::train
