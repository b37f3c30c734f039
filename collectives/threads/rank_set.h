#pragma once

#include <array>
#include <cstdint>

namespace shoal::threads {

/// More ranks than this in one process are refused.
inline constexpr int kMaxRanks = 1024;

/// A set of ranks, stored in place.
class RankSet {
 public:
  bool contains(int rank) const { return (words_[word(rank)] >> bit(rank) & 1U) != 0; }
  void insert(int rank) { words_[word(rank)] |= std::uint64_t{1} << bit(rank); }

 private:
  static std::size_t word(int rank) { return static_cast<std::size_t>(rank) / 64; }
  static unsigned bit(int rank) { return static_cast<unsigned>(rank) % 64; }

  std::array<std::uint64_t, kMaxRanks / 64> words_{};
};

}  // namespace shoal::threads
