#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace shoal {

/// Lets a thread sleep until some rank of this process has moved, with a deadline: a futex-style gate.
/// Waiters read `ticket()`, look for work, and call `wait(ticket)` when they found none; whoever changes state that
/// others may wait for calls `notify()`. A notify between ticket and wait makes the wait return at once, so nothing is
/// lost.
class ProgressGate {
 public:
  std::uint32_t ticket() const { return epoch_.load(std::memory_order_acquire); }
  void notify();
  /// Returns when notified since `ticket`, or after `timeout`.
  void wait(std::uint32_t ticket, std::chrono::microseconds timeout);

 private:
  std::atomic<std::uint32_t> epoch_{0};
  std::atomic<std::uint32_t> num_waiting_{0};
};

/// The gate that all ranks of this process share.
ProgressGate& process_gate();

}  // namespace shoal
