#pragma once

#include <string>
#include <vector>

#include "shoal/tests/support/sharded/sharded_run.h"

namespace shoal::test {

/// A small model with batches and a rule: enough to be run at any world size up to 4.
struct Workload {
  std::string name;
  std::function<std::unique_ptr<nn::Model>()> make_model;
  std::function<std::unique_ptr<optim::Rule>()> make_rule;
  std::function<HostBatch(std::int64_t step)> make_batch;
};

/// Ten models: GPTs, ResNets with batch norm, perceptrons and chains, in odd sizes.
const std::vector<Workload>& small_workloads();
const Workload& small_workload(const std::string& name);

/// A run of `workload` on `ranks` ranks, everything else at its default.
ShardedRun run_of(const Workload& workload, int ranks);

/// A model that holds what is awkward to shard: a scalar, an empty tensor, odd sizes, a frozen parameter, a parameter
/// that no operation uses, and a table used at both ends.
std::unique_ptr<nn::Model> make_awkward_model();

}  // namespace shoal::test
