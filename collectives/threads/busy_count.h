#pragma once

#include <atomic>
#include <cstdint>

namespace shoal::threads {

/// How many threads of a rank are in a loop over peers' memory. All operations are sequentially consistent, so that it
/// can be paired with a flag that keeps later loops out.
class BusyCount {
 public:
  void enter() { word_.fetch_add(1); }
  void leave() {
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    while (!word_.compare_exchange_weak(word, num_busy(word) == 1 ? word - 1 + kIdle : word - 1)) {
    }
  }
  bool is_idle() const { return num_busy(word_.load()) == 0; }

  /// For has_been_idle_since.
  std::uint64_t look() const { return word_.load(); }
  /// Whether every loop of the time of `look` has ended, however many have begun since.
  bool has_been_idle_since(std::uint64_t look) const {
    const std::uint64_t now = word_.load();
    return num_busy(look) == 0 || num_busy(now) == 0 || num_idle(look) != num_idle(now);
  }

 private:
  // The lower half counts the loops, the upper half the moments at which the last of them ended.
  static constexpr std::uint64_t kIdle = std::uint64_t{1} << 32;
  static std::uint64_t num_busy(std::uint64_t word) { return word & (kIdle - 1); }
  static std::uint64_t num_idle(std::uint64_t word) { return word / kIdle; }

  std::atomic<std::uint64_t> word_{0};
};

}  // namespace shoal::threads
