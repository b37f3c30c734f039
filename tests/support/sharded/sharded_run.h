#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "shoal/collectives/communicator.h"
#include "shoal/nn/model.h"
#include "shoal/optim/rule.h"
#include "shoal/runtime/device/runtime.h"
#include "shoal/runtime/fsdp/sharded_model.h"

namespace shoal::test {

/// A global batch on the host; the ranks share its rows in order.
struct HostBatch {
  Shape inputs_shape;  // of the global batch; the first extent is the batch
  Shape targets_shape;
  DType inputs_dtype = DType::F32;
  DType targets_dtype = DType::I32;
  std::vector<std::uint32_t> inputs;  // elements as their bits
  std::vector<std::uint32_t> targets;
};

/// A batch of `batch` images (height, width, channels) with classes, or of byte-like ids with the next ones as targets:
/// seeded.
HostBatch random_images(std::uint64_t seed, std::int64_t batch, const Shape& image, int classes);
HostBatch random_tokens(std::uint64_t seed, std::int64_t batch, std::int64_t sequence, int vocabulary);
HostBatch random_vectors(std::uint64_t seed, std::int64_t batch, std::int64_t features);

/// One training run over ranks as threads.
struct ShardedRun {
  std::function<std::unique_ptr<nn::Model>()> make_model;
  std::function<std::unique_ptr<optim::Rule>()> make_rule;
  std::function<HostBatch(std::int64_t step)> make_batch;  // global batches, all of one shape
  int ranks = 1;
  int steps = 3;
  fsdp::StepSettings settings{.lr = 0.01, .max_norm = 0};
  fsdp::Policies policies;
  RuntimeOptions runtime;
  std::vector<std::int64_t> rows;  // each rank's rows of a batch; empty: the same for all
  bool evaluates = false;          // one evaluation on the first batch at the end
  bool predicts = false;           // predictions for the first batch at the end
  bool interrupts = false;         // evaluations and predictions, as above, after every step too
  std::function<void(fsdp::ShardOptions&)> edit_options;
  /// Called on every rank after set-up and after the last step.
  std::function<void(fsdp::ShardedModel&, Device&)> inspect;
};

struct ShardedResult {
  std::vector<fsdp::StepReport> reports;  // one per step
  fsdp::StepReport evaluation;
  std::vector<float> predictions;  // for rank 0's rows
  fsdp::ShardedModel::Hashes hashes;
  std::vector<MemoryBytes> peak;       // by rank, before anything was read back
  std::vector<MemoryBytes> predicted;  // by rank
};

/// Runs it and returns what rank 0 saw; throws what a rank threw.
ShardedResult run_sharded(const ShardedRun& run);

/// What a test does on each rank by itself.
struct RankView {
  int rank;
  nn::Model& model;
  fsdp::ShardedModel& sharded;
  Device& device;
  std::function<nn::Batch(std::int64_t step)> load;  // this rank's rows of a batch; three are kept
};

/// Calls body(view) on every rank with the model of `run`, sharded, and nothing done yet. Throws what a rank threw.
void run_on_ranks(const ShardedRun& run, const std::function<void(RankView&)>& body);

/// What body(view) threw on each rank, by rank; empty where it threw nothing.
std::vector<std::string> errors_on_ranks(const ShardedRun& run, const std::function<void(RankView&)>& body);

}  // namespace shoal::test
