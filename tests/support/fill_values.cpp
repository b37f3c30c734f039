#include "shoal/tests/support/fill_values.h"

#include <array>
#include <cmath>
#include <numbers>

namespace shoal::test {
namespace {

/// SplitMix64: independent of the generator under test.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 0x1234567) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// In (0, 1).
  double uniform() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

 private:
  std::uint64_t state_;
};

template <typename T, typename Draw>
std::vector<T> drawn(std::int64_t numel, const Draw& draw) {
  std::vector<T> values(static_cast<std::size_t>(numel));
  for (T& value : values) value = draw();
  return values;
}

}  // namespace

std::vector<float> exact_values(std::int64_t numel, std::uint64_t seed, int power) {
  SplitMix random(seed);
  return drawn<float>(numel,
                      [&] { return std::ldexp(static_cast<float>(static_cast<int>(random.next() % 17) - 8), power); });
}

std::vector<float> normal_values(std::int64_t numel, std::uint64_t seed, double mean, double deviation) {
  SplitMix random(seed);
  return drawn<float>(numel, [&] { return static_cast<float>(mean + deviation * random.normal()); });
}

std::vector<float> uniform_values(std::int64_t numel, std::uint64_t seed, double low, double high) {
  SplitMix random(seed);
  return drawn<float>(numel, [&] { return static_cast<float>(low + (high - low) * random.uniform()); });
}

std::vector<float> adversarial_values(std::int64_t numel, std::uint64_t seed) {
  static constexpr std::array<float, 14> kCorners{0.0f,          -0.0f,          0x1p-149f, -0x1p-140f, 0x1p-126f,
                                                  -0x1.8p-63f,   0x1.fp62f,      -0x1p60f,  1.0f,       -0x1.fffffep-1f,
                                                  0x1.000002p0f, 0x1.555556p-2f, 1e4f,      -1e-4f};
  SplitMix random(seed);
  return drawn<float>(numel, [&]() -> float {
    const std::uint64_t pick = random.next() % (2 * kCorners.size());
    if (pick < kCorners.size()) return kCorners[pick];
    return static_cast<float>(random.normal());
  });
}

std::vector<std::int32_t> index_values(std::int64_t numel, std::uint64_t seed, std::int32_t bound) {
  SplitMix random(seed);
  return drawn<std::int32_t>(
      numel, [&] { return static_cast<std::int32_t>(random.next() % static_cast<std::uint64_t>(bound)); });
}

}  // namespace shoal::test
