#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shoal/collectives/communicator.h"
#include "shoal/runtime/base/dtype.h"

namespace shoal::collectives {

/// What must be the same on every rank for the same sequence number of a communicator.
struct Fingerprint {
  std::int64_t bytes = 0;  // of one shard, of the data; what is sent in a send_recv
  std::int32_t detail =
      0;  // broadcast: root; window gather: window; reductions: Fold; send_recv: receiver, -1 for none
  CollectiveKind kind = CollectiveKind::Barrier;
  DType dtype = DType::U8;

  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

/// Whether two ranks may issue these under one sequence number: equal, or both a send_recv (what each of them moves is
/// between sender and receiver).
bool is_same_operation(const Fingerprint& a, const Fingerprint& b);

/// "reduce_scatter (4096 bytes, fp32, folded)".
std::string describe(const Fingerprint& fingerprint);

/// "rank 3", "ranks 1, 2 and 5".
std::string describe_ranks(const std::vector<int>& ranks);

}  // namespace shoal::collectives
