#include "shoal/collectives/failure_latch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace shoal::collectives {
namespace {

TEST(FailureLatch, FirstFailureStays) {
  FailureLatch latch;
  EXPECT_FALSE(latch.is_set());
  latch.set(ErrorCode::Timeout, "rank 3 is late", 3);
  latch.set(ErrorCode::Aborted, "too late", 1);
  ASSERT_TRUE(latch.is_set());
  try {
    latch.raise("all_gather");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Timeout);
    EXPECT_EQ(error.rank(), 3);
    EXPECT_EQ(std::string(error.what()), "[all_gather] rank 3 is late");
  }
}

// Whoever loses finds the winner's failure complete as soon as `set` has returned.
TEST(FailureLatch, SetByManyThreads_KeepsOneWhole_AtOnceForEachOfThem) {
  constexpr int kThreads = 4;
  for (int round = 0; round < 100; ++round) {
    FailureLatch latch;
    std::atomic<int> num_ready{0};
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kThreads; ++rank) {
      threads.emplace_back([&latch, &num_ready, rank] {
        std::string text(100, static_cast<char>('a' + rank));
        ++num_ready;
        while (num_ready < kThreads) std::this_thread::yield();
        latch.set(ErrorCode::CommFailure, std::move(text), rank);
        EXPECT_TRUE(latch.is_set());
        try {
          latch.raise("barrier");
        } catch (const Error& error) {
          ASSERT_GE(error.rank(), 0);
          EXPECT_EQ(error.what(), "[barrier] " + std::string(100, static_cast<char>('a' + error.rank())));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace shoal::collectives
