#pragma once

#include "shoal/kernels/host/isa/attention.h"

// What the two directions of attention share. Included by kernels/host/isa/*.cpp only.

namespace shoal::kernels::host::SHOAL_ISA {

/// How many of a block's keys, which begin at `block_begin`, a query sees: itself and those before it, at most `limit`.
inline std::int64_t seen_keys(std::int64_t query, std::int64_t block_begin, std::int64_t limit) {
  const std::int64_t seen = query + 1 - block_begin;
  if (seen < 0) return 0;
  return seen < limit ? seen : limit;
}

void attention_forward(const AttentionForwardHead& t, std::int64_t query_begin, std::int64_t query_end);
void attention_backward(const AttentionBackwardHead& t, float* scratch);

}  // namespace shoal::kernels::host::SHOAL_ISA
