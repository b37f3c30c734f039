#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "shoal/runtime/device/memory_ledger.h"

namespace shoal::tools {

/// What `bench step` measured of one workload.
struct BenchRow {
  std::string workload;
  std::string strategy;
  std::string dtype;
  int world = 1;
  int threads = 1;
  double step_ms = 0;  // median
  double min_ms = 0;
  double items_per_s = 0;  // of all ranks, at the median
  std::int64_t units = 0;
  double peak_rss_mib = 0;  // of the process, which holds all ranks
  std::int64_t parameters = 0;
  std::array<double, 2> loss{};         // of the first and the last step
  double host_us_per_unit = 0;          // the median step over the number of units, everything included
  double gemm_share = 0;                // time that the workload's plain products alone take, over the median step
  std::vector<MemoryBytes> peak_bytes;  // by rank
};

}  // namespace shoal::tools
