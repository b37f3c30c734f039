#include "shoal/runtime/device/progress_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace shoal {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

TEST(ProgressGate, NotifyBeforeTheWait_IsNotLost) {
  ProgressGate gate;
  const std::uint32_t ticket = gate.ticket();
  gate.notify();
  gate.wait(ticket, seconds(100));  // returns at once, or the test hangs
  EXPECT_NE(gate.ticket(), ticket);
}

TEST(ProgressGate, WithoutNotify_ReturnsAfterTheTimeout) {
  ProgressGate gate;
  const auto start = std::chrono::steady_clock::now();
  gate.wait(gate.ticket(), microseconds(20'000));
  EXPECT_GE(std::chrono::steady_clock::now() - start, microseconds(15'000));
  gate.wait(gate.ticket(), microseconds(0));
  gate.wait(gate.ticket(), microseconds(-5));
}

// Two threads take turns; each lost wake-up would cost the long time-out.
TEST(ProgressGate, PingPong_LosesNoWakeUp) {
  constexpr int kRounds = 2000;
  ProgressGate gate;
  std::atomic<int> turn{0};
  std::atomic<bool> has_timed_out{false};
  auto play = [&](int me) {
    for (int round = 0; round < kRounds; ++round) {
      const int mine = 2 * round + me;
      for (;;) {
        const std::uint32_t ticket = gate.ticket();
        if (turn.load() == mine) break;
        const auto start = std::chrono::steady_clock::now();
        gate.wait(ticket, seconds(5));
        if (std::chrono::steady_clock::now() - start > seconds(4)) has_timed_out = true;
      }
      turn.store(mine + 1);
      gate.notify();
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(turn, 2 * kRounds);
  EXPECT_FALSE(has_timed_out);
}

TEST(ProgressGate, Notify_WakesEveryWaiter) {
  ProgressGate gate;
  std::atomic<int> num_ready{0};
  std::atomic<bool> is_open{false};
  auto wait = [&] {
    ++num_ready;
    while (!is_open) {
      const std::uint32_t ticket = gate.ticket();
      if (!is_open) gate.wait(ticket, seconds(100));
    }
  };
  std::thread a(wait);
  std::thread b(wait);
  while (num_ready != 2) std::this_thread::yield();
  is_open = true;
  gate.notify();
  a.join();
  b.join();
}

TEST(ProgressGate, ProcessGate_IsTheSameOnEveryThread) {
  const std::uint32_t ticket = process_gate().ticket();
  const ProgressGate* others = nullptr;
  std::thread other([&] {
    others = &process_gate();
    process_gate().notify();
  });
  other.join();
  EXPECT_EQ(others, &process_gate());
  EXPECT_NE(process_gate().ticket(), ticket);
}

}  // namespace
}  // namespace shoal
