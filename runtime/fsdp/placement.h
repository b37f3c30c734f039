#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shoal/runtime/fsdp/plan.h"
#include "shoal/runtime/fsdp/trace.h"

namespace shoal::fsdp {

/// Bytes that are needed from one moment to another, both included.
struct TimedBlock {
  std::int64_t bytes = 0;
  int begin = 0;
  int end = 0;
};

struct Placement {
  std::vector<std::int64_t> offsets;  // multiples of kLeaseAlignment
  std::int64_t arena_bytes = 0;
};

/// The most bytes needed at one moment, each block rounded up to kLeaseAlignment: no placement can be smaller.
std::int64_t peak_block_bytes(std::span<const TimedBlock> blocks);

/// Offsets such that blocks needed at the same moment share no byte, in an arena as small as a few greedy orders and a
/// bounded, deterministic search find (the problem is NP-hard: dynamic storage allocation). Blocks of no bytes get
/// offset 0.
Placement place_blocks(std::span<const TimedBlock> blocks);

/// Places the leases of an ordered plan: sets their offsets and the size of the arena.
void place_leases(Plan& plan, const Trace& trace);

}  // namespace shoal::fsdp
