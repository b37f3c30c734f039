#include "shoal/runtime/base/counter_rng.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <numbers>

#include "shoal/runtime/base/error.h"

namespace shoal {
namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

constexpr std::uint32_t low_word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high_word(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::uint64_t key, std::uint64_t counter_low, std::uint64_t counter_high) {
  std::uint32_t c0 = low_word(counter_low);
  std::uint32_t c1 = high_word(counter_low);
  std::uint32_t c2 = low_word(counter_high);
  std::uint32_t c3 = high_word(counter_high);
  std::uint32_t k0 = low_word(key);
  std::uint32_t k1 = high_word(key);
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t p0 = static_cast<std::uint64_t>(kMultiplier0) * c0;
    const std::uint64_t p1 = static_cast<std::uint64_t>(kMultiplier1) * c2;
    c0 = high_word(p1) ^ c1 ^ k0;
    c1 = low_word(p1);
    c2 = high_word(p0) ^ c3 ^ k1;
    c3 = low_word(p0);
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  return {c0, c1, c2, c3};
}

// Four elements share a block, so that a loop over many of them can use all four words of one call.
float counter_uniform(std::uint64_t seed, std::uint64_t sequence, std::uint64_t index) {
  const auto words = philox4x32(seed, index >> 2, sequence);
  return static_cast<float>(words[index & 3] >> 8) * 0x1p-24f;
}

float counter_normal(std::uint64_t seed, std::uint64_t sequence, std::uint64_t index) {
  const auto words = philox4x32(seed, index >> 1, sequence);
  const std::size_t pair = 2 * (index & 1);
  // (0, 1], so that the logarithm is finite.
  const double radius_uniform = (static_cast<double>(words[pair]) + 1.0) * 0x1p-32;
  const double angle_uniform = static_cast<double>(words[pair + 1]) * 0x1p-32;
  const double radius = std::sqrt(-2.0 * std::log(radius_uniform));
  return static_cast<float>(radius * std::cos(2.0 * std::numbers::pi * angle_uniform));
}

std::int64_t counter_shuffle(std::uint64_t seed, std::uint64_t sequence, std::int64_t index, std::int64_t size) {
  if (index < 0 || index >= size) {
    fail(ErrorCode::InvalidArgument, fmt::format("[counter_shuffle] index {} is outside [0, {})", index, size));
  }
  const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(size - 1)));
  const int half_bits = (bits + 1) / 2;
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  constexpr std::uint64_t kFeistelRounds = 8;
  auto value = static_cast<std::uint64_t>(index);
  // The network permutes [0, 4^half_bits), at most four times as many as there are elements. Starting from an element,
  // its cycle comes back to an element, and walking it is a bijection of the elements.
  do {
    std::uint64_t left = value >> half_bits;
    std::uint64_t right = value & mask;
    for (std::uint64_t round = 0; round < kFeistelRounds; ++round) {
      const auto words = philox4x32(seed, right | (round << 32), sequence);
      const std::uint64_t mixed = left ^ (words[0] & mask);
      left = right;
      right = mixed;
    }
    value = (left << half_bits) | right;
  } while (value >= static_cast<std::uint64_t>(size));
  return static_cast<std::int64_t>(value);
}

}  // namespace shoal
