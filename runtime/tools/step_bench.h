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

/// After so many steps, warm-up included, the state is compared.
inline constexpr std::int64_t kVerifiedSteps = 2;

/// Trains the workload on one made-up batch per rank with AdamW at 1e-3, without clipping, and times each step from a
/// barrier to the end of all its work. Then times the workload's products alone, all ranks busy.
///
/// Reports only what is verified, otherwise throws Internal with both values: the loss fell, and after kVerifiedSteps
/// steps weights and optimizer state had the same bits as under the other strategy (none; full for none). The other
/// strategy runs last, so that its memory is not in the row. Needs kVerifiedSteps steps, warm-up included.
BenchRow run_step_bench(const Workload& workload, const StepBenchOptions& options);

}  // namespace shoal::tools
