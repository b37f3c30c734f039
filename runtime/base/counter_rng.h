#pragma once

#include <array>
#include <cstdint>

namespace shoal {

/// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11): a pure function of key and
/// counter, so a value depends on its global index and on nothing else: not on the world size, the shard or the thread.
std::array<std::uint32_t, 4> philox4x32(std::uint64_t key, std::uint64_t counter_low, std::uint64_t counter_high);

/// Uniform in [0, 1) with 24 bits, for element `index` of the sequence (seed, sequence).
float counter_uniform(std::uint64_t seed, std::uint64_t sequence, std::uint64_t index);

/// Standard normal (Box-Muller in double, then rounded) for element `index` of the sequence (seed, sequence).
float counter_normal(std::uint64_t seed, std::uint64_t sequence, std::uint64_t index);

/// A bijection of [0, size): where `index` goes in the shuffled order keyed by (seed, sequence).
/// Feistel network over the next even power of two with cycle walking; O(1) memory, the same on every rank.
std::int64_t counter_shuffle(std::uint64_t seed, std::uint64_t sequence, std::int64_t index, std::int64_t size);

}  // namespace shoal
