#pragma once

#include <cstdint>

#include "shoal/collectives/communicator.h"

namespace shoal::collectives {

/// What one rank's link carries for every byte of the operation's full data, in an algorithm that is optimal for it:
/// the factor from algorithm bandwidth to bus bandwidth, so that figures compare with the hardware's whatever the
/// number of ranks. (PERFORMANCE.md of nccl-tests.)
constexpr double bus_bandwidth_factor(CollectiveKind kind, int world_size) {
  const double others = static_cast<double>(world_size - 1) / static_cast<double>(world_size);
  switch (kind) {
    case CollectiveKind::AllReduce:
      return 2.0 * others;
    case CollectiveKind::AllGather:
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::AllToAll:
    case CollectiveKind::WindowGather:
      return others;
    case CollectiveKind::Broadcast:
    case CollectiveKind::SendRecv:
      return 1.0;
    case CollectiveKind::Barrier:
      return 0.0;
  }
  return 0.0;
}

/// Gigabytes (1e9) a second of the full data: `full` of a gather or scatter, `data` of an all-reduce or broadcast.
constexpr double algorithm_bandwidth(std::int64_t full_bytes, double seconds) {
  return static_cast<double>(full_bytes) / seconds * 1e-9;
}

/// algorithm_bandwidth times bus_bandwidth_factor.
constexpr double bus_bandwidth(CollectiveKind kind, int world_size, std::int64_t full_bytes, double seconds) {
  return algorithm_bandwidth(full_bytes, seconds) * bus_bandwidth_factor(kind, world_size);
}

}  // namespace shoal::collectives
