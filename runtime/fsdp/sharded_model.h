#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shoal/collectives/communicator.h"
#include "shoal/nn/model.h"
#include "shoal/optim/rule.h"
#include "shoal/runtime/device/device.h"
#include "shoal/runtime/fsdp/plan.h"
#include "shoal/runtime/fsdp/shard_options.h"

namespace shoal::fsdp {

/// What one step left in its block, summed over all ranks.
struct StepReport {
  std::int64_t step = 0;
  double loss_sum = 0;
  double count = 0;
  double correct = 0;
  double grad_norm = 0;
  double clip_factor = 1;
  bool is_skipped = false;

  double mean_loss() const { return loss_sum / count; }
};

struct StepSettings {
  double lr = 0;
  double max_norm = 0;  // clip to this gradient norm; 0: no clipping
};

/// A model whose parameters, gradients and optimizer state are sharded over the ranks of a communicator, with its
/// plans. One object per rank, used from the rank's thread; construction and every method that says so are collective.
///
/// A call that refuses its arguments (InvalidArgument about a batch or a name) has enqueued nothing and may be repeated
/// with other ones. After any other exception this object is of no more use, since peers have been promised collectives
/// that will not come: every later call throws the same exception, and on the other ranks calls throw Aborted with its
/// text.
class ShardedModel {
 public:
  /// Finalizes `model`, traces it, plans its passes and proves them, places one arena, and materialises this rank's
  /// shards. Nothing of the model's size is allocated before the plans are proved. Collective. Throws Unsupported for
  /// strategies other than none and full; OutOfMemory, with the table by tag, beyond the device's limit;
  /// InvalidArgument on every rank, naming the first that differs, where ranks differ in model, policies, rule or seed.
  /// Only the size of their batches may differ.
  ShardedModel(nn::Model& model, Device& device, collectives::Communicator& world, std::unique_ptr<optim::Rule> rule,
               ShardOptions options);
  ~ShardedModel();

  /// Forward, backward, reduction, clipping and update on this rank's slice of the batch. Enqueues one step and returns
  /// the report of the step before it (nothing for the first), so that the host never waits for what it has just
  /// enqueued. Collective. `batch` must stay untouched until the report of this step has been returned.
  std::optional<StepReport> train_step(const nn::Batch& batch, const StepSettings& settings);
  /// The report of the last step, unless it was returned already, once all of it has run. Collective.
  std::optional<StepReport> finish();

  /// Sums of loss, count and correct over all ranks' slices, with running statistics and no gradient. Collective.
  StepReport evaluate(const nn::Batch& batch);
  /// Predictions for this rank's `inputs`, copied to the host. Collective: every rank must call it.
  std::vector<float> predict(const Tensor& inputs);

  /// One parameter's values, gathered. Collective.
  std::vector<float> read_parameter(const std::string& name);

  /// XXH64 over the XXH64s of every parameter's bytes, in name order; `state` adds state buffers and optimizer state.
  /// Collective.
  struct Hashes {
    std::uint64_t weights = 0;
    std::uint64_t state = 0;
  };
  Hashes hashes();

  /// What the plans say the device's ledger will have peaked at, by tag.
  MemoryBytes predicted_bytes() const;
  /// Bytes of the arena behind all leases.
  std::int64_t arena_bytes() const;
  /// The training plan, the update plan, and their proof, as text.
  std::string describe() const;
  /// XXH64 of the plans' text.
  std::uint64_t plan_fingerprint() const;

  std::int64_t num_parameters() const;

  /// What this rank has issued so far on the communicator for gathers and on the one for reductions.
  struct Traffic {
    collectives::CollectiveCounters gather;
    collectives::CollectiveCounters reduce;
  };
  Traffic traffic() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shoal::fsdp
