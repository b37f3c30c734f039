#pragma once

#include <cstdint>
#include <string>

#include "shoal/runtime/device/memory_ledger.h"
#include "shoal/runtime/fsdp/plan_cost.h"
#include "shoal/runtime/train/train_config.h"

namespace shoal::tools {

/// What `plan` knows of a run that it does not start.
struct PlanSummary {
  train::TrainConfig config;  // resolved
  std::int64_t num_parameters = 0;
  std::int64_t num_units = 0;
  std::uint64_t fingerprint = 0;
  std::string schedule;          // passes and their proof, as text
  MemoryBytes predicted;         // peak of each rank
  std::int64_t arena_bytes = 0;  // of each rank, behind all leases
  fsdp::WireBytes train_wire;    // of each rank, each step: the training pass
  fsdp::WireBytes update_wire;   // and the update pass
};

}  // namespace shoal::tools
