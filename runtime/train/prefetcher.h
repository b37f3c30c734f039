#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>

#include "shoal/runtime/device/progress_gate.h"

namespace shoal::train {

/// Fills a ring of slots ahead of their use, on one thread of its own. Slot contents belong to the caller: `fill(n,
/// slot)` writes item n (0, 1, ...) into memory that the caller keeps for slot n % num_slots. One consumer takes items
/// in order and gives slots back in order. Hand-over takes no lock and allocates nothing.
class Prefetcher {
 public:
  using Fill = std::function<void(std::int64_t item, int slot)>;

  /// Starts at once. Fills items [0, num_items), never more than num_slots beyond what was given back. Throws
  /// InvalidArgument for num_slots below 1.
  Prefetcher(int num_slots, std::int64_t num_items, Fill fill);
  /// Stops after the item being filled, and waits for that.
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// The slot of the next item, filled. Throws what `fill` threw, Timeout where it is not filled by the deadline, and
  /// InvalidArgument after the last item or where every slot is still held.
  int take(std::chrono::milliseconds deadline);
  /// Gives back the slot that has been held the longest.
  void give_back();

 private:
  void run();

  const int num_slots_;
  const std::int64_t num_items_;
  const Fill fill_;
  std::int64_t num_taken_ = 0;                 // consumer's
  std::atomic<std::int64_t> num_filled_{0};    // written by the producer
  std::atomic<std::int64_t> num_returned_{0};  // written by the consumer
  std::atomic<bool> has_failed_{false};
  std::atomic<bool> stops_{false};
  std::exception_ptr error_;  // read after has_failed_
  ProgressGate gate_;
  std::thread thread_;
};

}  // namespace shoal::train
