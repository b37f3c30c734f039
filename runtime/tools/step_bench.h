#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "shoal/runtime/tools/bench_row.h"
#include "shoal/runtime/tools/workloads.h"

namespace shoal::tools {

struct StepBenchOptions {
  std::string strategy = "full";
  int ranks = 2;
  int threads = 1;
  std::int64_t steps = 8;
  std::int64_t warmup = 3;
  std::chrono::milliseconds deadline{30000};
};

/// Trains the workload on one made-up batch per rank with AdamW at 1e-3, without clipping, and times each step from a
/// barrier to the end of all its work. Reports only if the loss fell: Internal, naming both losses, where it did not.
/// Then times the workload's products alone, all ranks busy.
BenchRow run_step_bench(const Workload& workload, const StepBenchOptions& options);

}  // namespace shoal::tools
