#include "shoal/runtime/train/prefetcher.h"

#include <array>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "shoal/tests/runtime/train/expect_error.h"

namespace shoal::train {
namespace {

using std::chrono::milliseconds;
using test::expect_error;

constexpr milliseconds kLong{20000};

TEST(Prefetcher, Items_ComeInOrderWithTheirContents) {
  std::array<std::int64_t, 3> slots{};
  Prefetcher prefetcher(3, 1000, [&](std::int64_t item, int slot) { slots.at(static_cast<std::size_t>(slot)) = item; });
  for (std::int64_t item = 0; item < 1000; ++item) {
    const int slot = prefetcher.take(kLong);
    EXPECT_EQ(slot, item % 3);
    EXPECT_EQ(slots.at(static_cast<std::size_t>(slot)), item);
    prefetcher.give_back();
  }
}

TEST(Prefetcher, HeldSlot_IsNotOverwritten) {
  std::array<std::int64_t, 3> slots{};
  Prefetcher prefetcher(3, 100, [&](std::int64_t item, int slot) { slots.at(static_cast<std::size_t>(slot)) = item; });
  // Two are always held, as a training loop does.
  int older = prefetcher.take(kLong);
  for (std::int64_t item = 1; item < 100; ++item) {
    const int newer = prefetcher.take(kLong);
    EXPECT_EQ(slots.at(static_cast<std::size_t>(older)), item - 1);
    EXPECT_EQ(slots.at(static_cast<std::size_t>(newer)), item);
    prefetcher.give_back();
    older = newer;
  }
}

TEST(Prefetcher, Exception_ReachesTheConsumerAfterTheItemsBeforeIt) {
  Prefetcher prefetcher(2, 10, [](std::int64_t item, int) {
    if (item == 3) throw std::runtime_error("item 3 is broken");
  });
  for (int item = 0; item < 3; ++item) {
    prefetcher.take(kLong);
    prefetcher.give_back();
  }
  EXPECT_THROW(prefetcher.take(kLong), std::runtime_error);
  EXPECT_THROW(prefetcher.take(kLong), std::runtime_error) << "the error has to stick";
}

TEST(Prefetcher, SlowFill_TimesOutByItem) {
  std::mutex mutex;
  std::condition_variable changed;
  bool may_end = false;
  {
    Prefetcher prefetcher(1, 1, [&](std::int64_t, int) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return may_end; });
    });
    expect_error(ErrorCode::Timeout, {"item 0", "20 ms"}, [&] { prefetcher.take(milliseconds(20)); });
    const std::lock_guard lock(mutex);
    may_end = true;
    changed.notify_all();
  }
}

TEST(Prefetcher, Destroyed_StopsWhereverItStands) {
  // Before the first item is taken, with all slots full, with one held, and after the last.
  for (const int num_taken : {0, 1, 3}) {
    Prefetcher prefetcher(2, 3, [](std::int64_t, int) {});
    for (int i = 0; i < num_taken; ++i) {
      prefetcher.take(kLong);
      if (i + 1 < num_taken) prefetcher.give_back();
    }
  }
  for (int i = 0; i < 200; ++i) Prefetcher(1, 1000000, [](std::int64_t, int) {});
}

TEST(Prefetcher, NoItems_IsLegal) {
  Prefetcher prefetcher(1, 0, [](std::int64_t, int) { FAIL() << "there is nothing to fill"; });
  expect_error(ErrorCode::InvalidArgument, {"0 items"}, [&] { prefetcher.take(kLong); });
}

TEST(Prefetcher, Misuse_IsRefused) {
  expect_error(ErrorCode::InvalidArgument, {"0 slots"}, [] { Prefetcher(0, 1, [](std::int64_t, int) {}); });
  Prefetcher prefetcher(1, 5, [](std::int64_t, int) {});
  expect_error(ErrorCode::InvalidArgument, {"no slot is held"}, [&] { prefetcher.give_back(); });
  prefetcher.take(kLong);
  expect_error(ErrorCode::InvalidArgument, {"all 1 slots are held"}, [&] { prefetcher.take(kLong); });
}

}  // namespace
}  // namespace shoal::train
