#include "shoal/runtime/train/launcher.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "shoal/tests/runtime/train/expect_error.h"
#include "shoal/tests/support/thread_limit.h"

namespace shoal::train {
namespace {

using std::chrono::milliseconds;
using test::expect_error;

Runtime make_runtime(milliseconds deadline = milliseconds(20000)) {
  RuntimeOptions options;
  options.deadline = deadline;
  return Runtime(options);
}

LaunchOptions ranks(int num_ranks) {
  return {.num_ranks = num_ranks, .backend = num_ranks == 1 ? "single" : "threads"};
}

// A collective that needs every rank.
void meet(RankContext& rank) {
  const auto stream = rank.device.make_stream(StreamRole::Compute, "meet");
  rank.world.barrier(*stream);
  stream->synchronize();
}

TEST(LaunchRanks, EveryRank_RunsOnceOnAThreadAndADeviceOfItsOwn) {
  for (const int num_ranks : {1, 2, 5}) {
    std::mutex mutex;
    std::set<int> seen;
    std::set<std::thread::id> threads;
    std::set<const Device*> devices;
    launch_ranks(make_runtime(), ranks(num_ranks), [&](RankContext& rank) {
      EXPECT_EQ(rank.world.rank(), rank.rank);
      EXPECT_EQ(rank.world.size(), num_ranks);
      EXPECT_EQ(rank.world_size, num_ranks);
      {
        const std::lock_guard lock(mutex);
        seen.insert(rank.rank);
        threads.insert(std::this_thread::get_id());
        devices.insert(&rank.device);
      }
      meet(rank);
    });
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(num_ranks));
    EXPECT_EQ(threads.size(), static_cast<std::size_t>(num_ranks));
    EXPECT_EQ(devices.size(), static_cast<std::size_t>(num_ranks));
    EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
  }
}

TEST(LaunchRanks, FailureOfOneRank_EndsTheOthersAndNamesIt) {
  std::atomic<int> num_aborted{0};
  try {
    launch_ranks(make_runtime(), ranks(3), [&](RankContext& rank) {
      if (rank.rank == 1) fail(ErrorCode::DeviceFailure, "[melt] the device melted; buy another");
      try {
        meet(rank);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::Aborted);
        ++num_aborted;
        throw;
      }
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::DeviceFailure);
    EXPECT_EQ(error.rank(), 1);
    EXPECT_EQ(error.operation(), "melt");
    EXPECT_STREQ(error.what(), "[melt] the device melted; buy another");
  }
  EXPECT_EQ(num_aborted, 2);
}

TEST(LaunchRanks, FirstFailure_WinsOverItsConsequences) {
  // Rank 0 fails because rank 1 did, with an error of its own; the barrier makes the order certain.
  try {
    launch_ranks(make_runtime(), ranks(2), [](RankContext& rank) {
      meet(rank);
      if (rank.rank == 1) fail(ErrorCode::Corrupt, "[read] first");
      try {
        meet(rank);
      } catch (const Error&) {
        fail(ErrorCode::Internal, "[read] second");
      }
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "[read] first");
  }
}

TEST(LaunchRanks, AbortedThatIsHeardFirst_IsNotTheCause) {
  // The launcher aborts the communicators after it has heard of rank 0's failure, and only then can rank 1 fail.
  expect_error(ErrorCode::Corrupt, {"[read] the cause"}, [] {
    launch_ranks(make_runtime(), ranks(2), [](RankContext& rank) {
      if (rank.rank == 0) fail(ErrorCode::Aborted, "[barrier] another rank failed");
      try {
        meet(rank);
      } catch (const Error&) {
        fail(ErrorCode::Corrupt, "[read] the cause");
      }
    });
  });
}

TEST(LaunchRanks, WhatRanksFailWithBecauseOfAnother_IsNotTheCause) {
  // Rank 1 hears of it in its own words, and first; rank 0 says the cause after that.
  for (const ErrorCode heard : {ErrorCode::CommFailure, ErrorCode::Timeout, ErrorCode::Aborted}) {
    expect_error(ErrorCode::Corrupt, {"[read] the cause"}, [heard] {
      launch_ranks(make_runtime(), ranks(2), [heard](RankContext& rank) {
        if (rank.rank == 1) fail(heard, "[barrier] rank 0 has left");
        try {
          meet(rank);
        } catch (const Error&) {
          fail(ErrorCode::Corrupt, "[read] the cause");
        }
      });
    });
  }
}

TEST(LaunchRanks, RankThatFails_EndsPeersThatWaitInAPartOfTheWorld) {
  std::atomic<int> num_aborted{0};
  expect_error(ErrorCode::Corrupt, {"bad bytes"}, [&] {
    launch_ranks(make_runtime(), ranks(2), [&](RankContext& rank) {
      const auto part = rank.world.split(0, 0, "part");
      const auto stream = rank.device.make_stream(StreamRole::Gather, "part");
      run_or_abort(rank.world, [&] {
        if (rank.rank == 1) fail(ErrorCode::Corrupt, "[read] bad bytes");
        part->barrier(*stream);
        try {
          stream->synchronize();
        } catch (const Error& error) {
          if (error.code() == ErrorCode::Aborted) ++num_aborted;
          throw;
        }
      });
    });
  });
  EXPECT_EQ(num_aborted, 1);
}

// The limit on address space leaves room for one more stack of this size, not for two.
TEST(LaunchRanks, ThreadThatCannotBeStarted_IsThatRanksFailureAndEndsTheOthers) {
  std::atomic<int> num_aborted{0};
  const test::RoomForOneThread only_one_thread_fits;
  try {
    launch_ranks(make_runtime(), ranks(3), [&](RankContext& rank) {
      try {
        meet(rank);
      } catch (const Error& error) {
        if (error.code() == ErrorCode::Aborted) ++num_aborted;
        throw;
      }
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unsupported) << error.what();
    EXPECT_EQ(error.rank(), 1);
    EXPECT_EQ(error.operation(), "launch_ranks");
  }
  EXPECT_EQ(num_aborted, 1);
}

TEST(LaunchRanks, ForeignExceptions_BecomeErrorsWithTheRank) {
  const auto launch = [](auto thrown) {
    launch_ranks(make_runtime(), ranks(2), [thrown](RankContext& rank) {
      if (rank.rank == 1) throw thrown;
    });
  };
  expect_error(ErrorCode::Internal, {"[rank_body]", "bad thing"}, [&] { launch(std::runtime_error("bad thing")); });
  expect_error(ErrorCode::OutOfMemory, {"memory"}, [&] { launch(std::bad_alloc()); });
  expect_error(ErrorCode::Internal, {"no std::exception"}, [&] { launch(42); });
}

TEST(LaunchRanks, ErrorThatNamesItsRank_KeepsIt) {
  try {
    launch_ranks(make_runtime(), ranks(2), [](RankContext& rank) {
      if (rank.rank == 1) throw Error(ErrorCode::CommFailure, "[gather] rank 7 is gone", 7);
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.rank(), 7);
  }
}

// Outlives the launch: a rank's thread sleeps in it after launch_ranks has given up.
struct Sleeper {
  std::mutex mutex;
  std::condition_variable changed;
  bool may_wake = false;
  bool has_ended = false;

  void sleep() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return may_wake; });
    has_ended = true;
    changed.notify_all();
  }
  void wake_and_wait() {
    std::unique_lock lock(mutex);
    may_wake = true;
    changed.notify_all();
    changed.wait(lock, [&] { return has_ended; });
  }
};

TEST(LaunchRanks, RankThatIsStuck_IsATimeoutThatNamesItAndTheCause) {
  const auto sleeper = std::make_shared<Sleeper>();
  try {
    launch_ranks(make_runtime(milliseconds(100)), ranks(2), [sleeper](RankContext& rank) {
      if (rank.rank == 1) sleeper->sleep();
      if (rank.rank == 0) fail(ErrorCode::Corrupt, "[read] bad bytes");
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Timeout);
    EXPECT_EQ(error.operation(), "launch_ranks");
    EXPECT_EQ(error.rank(), 1);
    EXPECT_NE(std::string(error.what()).find("rank 1 is stuck"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("bad bytes"), std::string::npos) << error.what();
  }
  sleeper->wake_and_wait();
}

TEST(LaunchRanks, RankThatOutlivesTheOthers_IsATimeoutToo) {
  const auto sleeper = std::make_shared<Sleeper>();
  expect_error(ErrorCode::Timeout, {"rank 0 is stuck", "100 ms"}, [&] {
    launch_ranks(make_runtime(milliseconds(100)), ranks(2), [sleeper](RankContext& rank) {
      if (rank.rank == 0) sleeper->sleep();
    });
  });
  sleeper->wake_and_wait();
}

// Holds a rank up where it unwinds.
struct SlowToEnd {
  ~SlowToEnd() { sleeper->sleep(); }
  std::shared_ptr<Sleeper> sleeper;
};

TEST(LaunchRanks, EveryRankFailsAndIsStuckInItsEnd_IsATimeoutWithTheCause) {
  const std::array<std::shared_ptr<Sleeper>, 2> sleepers = {std::make_shared<Sleeper>(), std::make_shared<Sleeper>()};
  expect_error(ErrorCode::Timeout, {"rank 0, 1 is stuck", "[read] bad bytes"}, [&] {
    launch_ranks(make_runtime(milliseconds(100)), ranks(2), [sleepers](RankContext& rank) {
      const SlowToEnd object{sleepers[static_cast<std::size_t>(rank.rank)]};
      run_or_abort(rank, [] { fail(ErrorCode::Corrupt, "[read] bad bytes"); });
    });
  });
  for (const auto& sleeper : sleepers) sleeper->wake_and_wait();
}

TEST(MakeCommunicators, WhatCannotWork_IsRefused) {
  const milliseconds deadline(1000);
  expect_error(ErrorCode::InvalidArgument, {"0 ranks"}, [&] { make_communicators("threads", 0, deadline); });
  expect_error(ErrorCode::InvalidArgument, {"single", "2"}, [&] { make_communicators("single", 2, deadline); });
  expect_error(ErrorCode::InvalidArgument, {"'treads'", "threads"}, [&] { make_communicators("treads", 2, deadline); });
}

TEST(RunOrAbort, WhatIsThrown_IsThrownOnUnchanged) {
  const auto worlds = make_communicators("single", 1, milliseconds(1000));
  EXPECT_THROW(run_or_abort(*worlds[0], [] { throw 42; }), int);
  EXPECT_THROW(run_or_abort(*worlds[0], [] { throw std::runtime_error("bad"); }), std::runtime_error);
  EXPECT_THROW(worlds[0]->split(0, 0, "part"), Error);  // aborted
}

TEST(RunOrAbort, Failure_ReachesPeersBeforeTheRankUnwinds) {
  std::atomic<bool> was_aborted{false};
  expect_error(ErrorCode::Corrupt, {"bad bytes"}, [&] {
    launch_ranks(make_runtime(), ranks(2), [&](RankContext& rank) {
      if (rank.rank == 1) {
        run_or_abort(rank.world, [&] { fail(ErrorCode::Corrupt, "[read] bad bytes"); });
      }
      try {
        meet(rank);
      } catch (const Error& error) {
        was_aborted = error.code() == ErrorCode::Aborted;
        throw;
      }
    });
  });
  EXPECT_TRUE(was_aborted);
}

}  // namespace
}  // namespace shoal::train
