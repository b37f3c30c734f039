#include "shoal/runtime/base/exact_sum.h"

#include <bit>
#include <cmath>
#include <limits>

namespace shoal {
namespace {

// Bit 0 of limb 0 weighs 2^-1074, the smallest subnormal.
constexpr int kLowestExponent = -1074;
constexpr int kLimbBits = 32;
constexpr std::int64_t kLimbMask = 0xffffffff;
// Limbs are carried on at 2^52, so that 2^10 accumulators may be added word by word without one.
constexpr std::int64_t kCarryAt = std::int64_t{1} << 52;

using Limbs = std::array<std::int64_t, ExactSum::kLimbs>;

// Limb i into limb i + 1 until every limb but the last is in [0, 2^32); the last keeps the sign.
void carry_all(Limbs& limbs) {
  for (std::size_t i = 0; i + 1 < limbs.size(); ++i) {
    limbs[i + 1] += limbs[i] >> kLimbBits;
    limbs[i] &= kLimbMask;
  }
}

// The limbs that have grown large, into the next ones; limbs[count] exists.
void carry_large(std::int64_t* limbs, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (limbs[i] < kCarryAt && limbs[i] > -kCarryAt) continue;
    limbs[i + 1] += limbs[i] >> kLimbBits;
    limbs[i] &= kLimbMask;
  }
}

int top_bit(const Limbs& limbs) {
  for (int i = ExactSum::kLimbs - 1; i >= 0; --i) {
    const auto limb = static_cast<std::uint64_t>(limbs[static_cast<std::size_t>(i)]);
    if (limb != 0) return i * kLimbBits + static_cast<int>(std::bit_width(limb)) - 1;
  }
  return -1;
}

bool bit_at(const Limbs& limbs, int bit) {
  return ((limbs[static_cast<std::size_t>(bit / kLimbBits)] >> (bit % kLimbBits)) & 1) != 0;
}

bool any_bit_below(const Limbs& limbs, int bit) {
  const auto limb = static_cast<std::size_t>(bit / kLimbBits);
  for (std::size_t i = 0; i < limb; ++i) {
    if (limbs[i] != 0) return true;
  }
  return (limbs[limb] & ((std::int64_t{1} << (bit % kLimbBits)) - 1)) != 0;
}

// Of a carried, non-negative number.
double round_to_double(const Limbs& limbs) {
  const int top = top_bit(limbs);
  if (top < 0) return 0.0;
  const int lowest = top < 53 ? 0 : top - 52;
  std::uint64_t mantissa = 0;
  for (int bit = top; bit >= lowest; --bit) mantissa = (mantissa << 1) | static_cast<std::uint64_t>(bit_at(limbs, bit));
  if (lowest > 0 && bit_at(limbs, lowest - 1)) {
    const bool is_odd = (mantissa & 1) != 0;
    if (is_odd || any_bit_below(limbs, lowest - 1)) ++mantissa;
  }
  return std::ldexp(static_cast<double>(mantissa), lowest + kLowestExponent);
}

}  // namespace

void ExactSum::add(double value) {
  if (!std::isfinite(value)) {
    ++limbs_[kLimbs];
    return;
  }
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto biased = static_cast<int>((bits >> 52) & 0x7ff);
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
  if (biased != 0) mantissa |= std::uint64_t{1} << 52;
  const int position = biased == 0 ? 0 : biased - 1;
  const int shift = position % kLimbBits;
  const auto first = static_cast<std::size_t>(position / kLimbBits);
  const std::uint64_t low = mantissa << shift;
  const std::uint64_t high = shift == 0 ? 0 : mantissa >> (64 - shift);
  const std::array<std::uint64_t, 3> parts = {low & kLimbMask, low >> kLimbBits, high};
  const std::int64_t sign = std::signbit(value) ? -1 : 1;
  for (std::size_t i = 0; i < parts.size(); ++i) limbs_[first + i] += sign * static_cast<std::int64_t>(parts[i]);
  carry_large(limbs_.data() + first, parts.size());
}

void ExactSum::add(const ExactSum& other) {
  for (std::size_t i = 0; i < limbs_.size(); ++i) limbs_[i] += other.limbs_[i];
  carry_large(limbs_.data(), kLimbs - 1);
}

double ExactSum::value() const {
  if (num_nonfinite() != 0) return std::numeric_limits<double>::quiet_NaN();
  Limbs limbs;
  for (std::size_t i = 0; i < limbs.size(); ++i) limbs[i] = limbs_[i];
  carry_all(limbs);
  const bool is_negative = limbs.back() < 0;
  if (is_negative) {
    for (std::int64_t& limb : limbs) limb = -limb;
    carry_all(limbs);
  }
  const double magnitude = round_to_double(limbs);
  return is_negative ? -magnitude : magnitude;
}

}  // namespace shoal
