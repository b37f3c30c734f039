#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shoal/nn/model.h"
#include "shoal/runtime/device/memory_ledger.h"
#include "shoal/runtime/fsdp/plan.h"
#include "shoal/runtime/fsdp/plan_check.h"
#include "shoal/runtime/fsdp/plan_cost.h"
#include "shoal/runtime/fsdp/shard_options.h"

namespace shoal::fsdp {

/// One pass: how it is scheduled, the proof of that, and what it costs.
struct PlannedPass {
  Plan plan;
  PlanProof proof;
  MemoryBytes lease_peak;
  WireBytes wire;
};

/// Everything about a sharded model that is known before any of it is allocated.
struct PlannedModel {
  ModelSpec model;
  UnitTable units;
  PlannedPass train;
  PlannedPass update;
  std::optional<PlannedPass> evaluate;
  std::optional<PlannedPass> predict;
  MemoryBytes persistent;        // weights, gradients, optimizer state, state buffers and control of one rank
  MemoryBytes predicted;         // peak of one rank over all passes, by tag and in total; inputs not included
  std::int64_t arena_bytes = 0;  // one arena serves all passes, and what ranks exchange between them

  /// Those that are planned.
  std::vector<const PlannedPass*> passes() const;
  std::int64_t num_parameters() const;
  /// Schedule and proof of the training and the update pass, as text.
  std::string describe() const;
  /// XXH64 of that text.
  std::uint64_t fingerprint() const;
};

/// Traces `model`, plans its passes for `world_size` ranks and proves them. Pure but for model.finalize(): allocates
/// nothing of the model's size. `num_workers` is the worker count of the devices that will run it; `num_state_tensors`
/// the optimizer's.
PlannedModel plan_model(nn::Model& model, const ShardOptions& options, int world_size, int num_workers,
                        int num_state_tensors);

}  // namespace shoal::fsdp
