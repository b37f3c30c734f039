#pragma once

#include <cstdint>
#include <span>

#include "shoal/collectives/communicator.h"
#include "shoal/runtime/base/dtype.h"

namespace shoal::collectives {

/// Whether reductions take this dtype: F32, F64, I64.
bool is_summable(DType dtype);

/// out[i] = ((sources[0][i] + sources[1][i]) + ...) + sources[n-1][i], or with Fold::Into the same left fold starting
/// from out[i], for i in [begin, end). Elements are independent: any cut into ranges gives the same bits. I64 wraps
/// around. A source may be `out` itself (Replace only), no other overlap. Sources not empty. Throws Internal for other
/// dtypes.
struct RankOrderSum {
  std::span<const void* const> sources;
  void* out = nullptr;
  DType dtype = DType::F32;
  Fold fold = Fold::Replace;

  void run(std::int64_t begin, std::int64_t end) const;
};

}  // namespace shoal::collectives
