#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "shoal/tests/runtime/device/device_factories.h"

namespace shoal {
namespace {

using test::DeviceFactory;

class ParallelFor : public ::testing::TestWithParam<DeviceFactory> {
 protected:
  std::unique_ptr<Device> device_ = GetParam().open({}, 0);
  std::unique_ptr<Stream> stream_ = device_->make_stream(StreamRole::Compute, "compute");
};

INSTANTIATE_TEST_SUITE_P(Devices, ParallelFor, ::testing::ValuesIn(test::device_factories()),
                         [](const auto& info) { return info.param.name; });

TEST_P(ParallelFor, CallsEveryChunkOnce_WithAWorkerOfItsOwn) {
  constexpr std::int64_t kMaxChunks = 70;
  std::vector<std::atomic<int>> calls(kMaxChunks);
  std::vector<std::atomic<int>> busy(8);
  std::atomic<int> num_shared{0};
  int num_rounds = 0;
  for (std::int64_t num_chunks = 0; num_chunks <= kMaxChunks; num_chunks += 7) {
    for (int repeat = 0; repeat < 40; ++repeat, ++num_rounds) {
      stream_->run("spread", {}, {}, [&, num_chunks](Workers& workers) {
        workers.parallel_for(num_chunks, [&](std::int64_t chunk, int worker) {
          if (worker < 0 || worker >= workers.count()) ++num_shared;
          if (busy[static_cast<std::size_t>(worker)].fetch_add(1) != 0) ++num_shared;
          ++calls[static_cast<std::size_t>(chunk)];
          busy[static_cast<std::size_t>(worker)].fetch_sub(1);
        });
      });
    }
  }
  stream_->synchronize();
  EXPECT_EQ(num_shared, 0);
  // Chunk c takes part in every round of more than c chunks.
  for (std::int64_t chunk = 0; chunk < kMaxChunks; ++chunk) {
    const std::int64_t num_sizes = (kMaxChunks - (chunk / 7 + 1) * 7) / 7 + 1;
    EXPECT_EQ(calls[static_cast<std::size_t>(chunk)], 40 * num_sizes) << chunk;
  }
}

TEST_P(ParallelFor, PlainMemory_NeedsNoSynchronisationOfItsOwn) {
  std::vector<std::int64_t> values(64, 0);
  for (int round = 0; round < 200; ++round) {
    stream_->run("add", {}, {}, [&](Workers& workers) {
      workers.parallel_for(64, [&](std::int64_t chunk, int) { values[static_cast<std::size_t>(chunk)] += chunk; });
    });
  }
  stream_->synchronize();
  for (std::int64_t i = 0; i < 64; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], 200 * i);
}

TEST_P(ParallelFor, ExceptionInABody_IsRethrownAndTheNextOneWorks) {
  int num_caught = 0;
  std::atomic<int> num_after{0};
  stream_->run("throws", {}, {}, [&](Workers& workers) {
    for (int round = 0; round < 50; ++round) {
      try {
        workers.parallel_for(16, [&](std::int64_t chunk, int) {
          if (chunk % 5 == 2) throw std::runtime_error("chunk");
        });
      } catch (const std::runtime_error&) {
        ++num_caught;
      }
    }
    workers.parallel_for(16, [&](std::int64_t, int) { ++num_after; });
  });
  stream_->synchronize();
  EXPECT_EQ(num_caught, 50);
  EXPECT_EQ(num_after, 16);
}

TEST_P(ParallelFor, UncaughtException_FailsTheStream) {
  stream_->run("throws", {}, {}, [](Workers& workers) {
    workers.parallel_for(9, [](std::int64_t chunk, int) {
      if (chunk == 8) throw std::runtime_error("the last chunk");
    });
  });
  EXPECT_THROW(stream_->synchronize(), std::runtime_error);
}

// Streams held by the same event start together, on whichever threads take them, and spread at the same time.
TEST_P(ParallelFor, OfSeveralStreamsAtOnce_StayApart) {
  constexpr int kRounds = 60;
  const auto other = device_->make_stream(StreamRole::Compute, "other");
  const auto gather = device_->make_stream(StreamRole::Gather, "gather");
  const auto start = device_->make_event("start");
  std::vector<int> first(24, 0);
  std::vector<int> second(24, 0);
  for (int round = 0; round < kRounds; ++round) {
    gather->run_polled("hold", {}, {},
                       [tries = 0](Workers&) mutable { return ++tries < 4 ? Progress::Pending : Progress::Done; });
    gather->record(*start);
    auto enqueue = [&](Stream& stream, std::vector<int>& values) {
      stream.wait(*start);
      stream.run("add", {}, {}, [&values](Workers& workers) {
        workers.parallel_for(24, [&](std::int64_t chunk, int) { ++values[static_cast<std::size_t>(chunk)]; });
      });
    };
    enqueue(*stream_, first);
    enqueue(*other, second);
  }
  stream_->synchronize();
  other->synchronize();
  EXPECT_EQ(first, std::vector<int>(24, kRounds));
  EXPECT_EQ(second, std::vector<int>(24, kRounds));
}

TEST(ParallelForThreads, ReturnsAfterTheChunksOfOthers) {
  const auto device = test::host_workers(2).open({}, 0);
  const auto stream = device->make_stream(StreamRole::Compute, "compute");
  std::atomic<int> num_inside{0};
  std::atomic<bool> caller_has_left{false};
  std::atomic<bool> other_has_ended{false};
  bool was_waited_for = false;
  stream->run("spread", {}, {}, [&](Workers& workers) {
    const std::thread::id caller = std::this_thread::get_id();
    workers.parallel_for(2, [&](std::int64_t, int) {
      ++num_inside;
      test::eventually([&] { return num_inside == 2; });
      if (std::this_thread::get_id() == caller) {
        caller_has_left = true;
        return;
      }
      test::eventually([&] { return caller_has_left.load(); });
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // a caller that does not wait is gone by now
      other_has_ended = true;
    });
    was_waited_for = other_has_ended;
  });
  stream->synchronize();
  EXPECT_TRUE(was_waited_for);
}

TEST(ParallelForThreads, TwoThreadsTakeChunksAtTheSameTime) {
  const auto device = test::host_workers(2).open({}, 0);
  const auto stream = device->make_stream(StreamRole::Compute, "compute");
  std::atomic<int> num_inside{0};
  std::atomic<int> num_met{0};
  stream->run("meet", {}, {}, [&](Workers& workers) {
    EXPECT_EQ(workers.count(), 2);
    workers.parallel_for(2, [&](std::int64_t, int) {
      ++num_inside;
      if (test::eventually([&] { return num_inside == 2; })) ++num_met;
    });
  });
  stream->synchronize();
  EXPECT_EQ(num_met, 2);
}

}  // namespace
}  // namespace shoal
