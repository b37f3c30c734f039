#pragma once

#include <cstdint>
#include <vector>

namespace shoal::test {

/// Small integers in [-8, 8] times 2^power: sums of up to 2^17 such numbers, and sums of up to 2^11 products of two,
/// are exact in fp32 in any order, so results can be compared bit by bit.
std::vector<float> exact_values(std::int64_t numel, std::uint64_t seed, int power = -2);

/// Normally distributed.
std::vector<float> normal_values(std::int64_t numel, std::uint64_t seed, double mean = 0, double deviation = 1);

/// Uniform in [low, high).
std::vector<float> uniform_values(std::int64_t numel, std::uint64_t seed, double low, double high);

/// Finite values that break careless code, in random order: both zeros, subnormals, the smallest and largest normal
/// numbers divided so that a square stays finite, 1 and its neighbours, long binary fractions, and normal values.
std::vector<float> adversarial_values(std::int64_t numel, std::uint64_t seed);

/// Uniform integers in [0, bound).
std::vector<std::int32_t> index_values(std::int64_t numel, std::uint64_t seed, std::int32_t bound);

}  // namespace shoal::test
