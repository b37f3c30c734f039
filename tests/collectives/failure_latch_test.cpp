#include "shoal/collectives/failure_latch.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
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

TEST(FailureLatch, SetByManyThreads_KeepsOneWhole) {
  for (int round = 0; round < 50; ++round) {
    FailureLatch latch;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 4; ++rank) {
      threads.emplace_back([&latch, rank] {
        latch.set(ErrorCode::CommFailure, std::string(100, static_cast<char>('a' + rank)), rank);
        while (!latch.is_set()) std::this_thread::yield();
        EXPECT_THROW(latch.raise("barrier"), Error);
      });
    }
    for (std::thread& thread : threads) thread.join();
    try {
      latch.raise("barrier");
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), "[barrier] " + std::string(100, static_cast<char>('a' + error.rank())));
    }
  }
}

}  // namespace
}  // namespace shoal::collectives
