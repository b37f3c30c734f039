#include "shoal/runtime/device/progress_gate.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

namespace shoal {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t), "the kernel compares the plain word");

}  // namespace

// All operations on the two words are sequentially consistent: either the notifier sees the waiter's count and wakes
// it, or the kernel's comparison sees the notifier's epoch and does not sleep.
void ProgressGate::notify() {
  epoch_.fetch_add(1);
  if (num_waiting_.load() != 0) syscall(SYS_futex, &epoch_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void ProgressGate::wait(std::uint32_t ticket, std::chrono::microseconds timeout) {
  constexpr std::int64_t kMicrosPerSecond = 1'000'000;
  const std::int64_t micros = std::max<std::int64_t>(timeout.count(), 0);
  timespec relative{};
  relative.tv_sec = static_cast<time_t>(micros / kMicrosPerSecond);
  relative.tv_nsec = static_cast<long>(micros % kMicrosPerSecond * 1000);
  num_waiting_.fetch_add(1);
  // A stale ticket, a signal and the time-out all just return: callers look again in any case.
  if (epoch_.load() == ticket) syscall(SYS_futex, &epoch_, FUTEX_WAIT_PRIVATE, ticket, &relative, nullptr, 0);
  num_waiting_.fetch_sub(1);
}

ProgressGate& process_gate() {
  static ProgressGate gate;
  return gate;
}

}  // namespace shoal
