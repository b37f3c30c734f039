// One-sided gathers of versioned shards.

#include <atomic>
#include <memory>
#include <vector>

#include "shoal/collectives/communicator.h"
#include "shoal/tests/collectives/collective_rig.h"
#include "shoal/tests/support/rank_threads.h"

namespace shoal::test {
namespace {

using collectives::Fold;
using collectives::Window;

class WindowTest : public CollectiveTest {};
class WindowPeersTest : public CollectiveTest {};

std::int64_t shard_value(std::uint64_t version, int rank, std::int64_t index) {
  return pattern_integer(version, rank, index) + 100 * static_cast<std::int64_t>(version);
}

// The loop of a sharded training step: write the shard, publish, gather, compute with it, wait for readers, again.
// Every read must find exactly the version it asked for.
TEST_P(WindowTest, ShardsRewrittenEveryStep_ReadersSeeExactlyTheirVersion) {
  constexpr std::uint64_t kVersions = 40;
  constexpr std::int64_t kNumel = 700;
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    RigOptions options;
    options.comm.chunk_bytes = 1024;
    options.runtime.execution = seed == 0 ? HostExecution::Workers : HostExecution::ThreadPerStream;
    options.runtime.delay_seed = seed;
    options.runtime.check_hazards = true;
    run_collective(GetParam(), options, [](Rank& r) {
      const auto gather_stream = r.device.make_stream(StreamRole::Gather, "gather");
      const auto published = r.device.make_event("published");
      const auto gathered = r.device.make_event("gathered");
      const auto consumed = r.device.make_event("consumed");
      DeviceArray shard(r.device, kNumel, DType::I64);
      DeviceArray full(r.device, kNumel * r.world_size, DType::I64);
      const Window window = r.comm.expose(shard.tensor());
      for (std::uint64_t version = 1; version <= kVersions; ++version) {
        r.comm.await_readers(r.stream);
        r.stream.run("write", {}, {shard.tensor()}, [&shard, version, rank = r.rank](Workers&) {
          for (std::int64_t i = 0; i < kNumel; ++i) shard.as<std::int64_t>()[i] = shard_value(version, rank, i);
        });
        r.comm.publish(r.stream, window, version);
        r.stream.record(*published);
        gather_stream->wait(*published);
        r.comm.gather(*gather_stream, window, full.tensor(), version);
        gather_stream->record(*gathered);
        r.stream.wait(*gathered);
        r.stream.run("check", {full.tensor()}, {}, [&full, version](Workers&) {
          const auto expected = [&](std::int64_t i) {
            return shard_value(version, static_cast<int>(i / kNumel), i % kNumel);
          };
          EXPECT_EQ(count_wrong<std::int64_t>(full.tensor(), expected), 0) << version;
        });
        r.stream.record(*consumed);
        gather_stream->wait(*consumed);
      }
      r.comm.await_readers(r.stream);
      r.stream.synchronize();
      gather_stream->synchronize();
    });
  }
}

TEST_P(WindowTest, FullHoldsTheShardItself_NothingIsLost) {
  constexpr std::int64_t kNumel = 130;
  run_collective(GetParam(), {}, [](Rank& r) {
    DeviceArray full(r.device, kNumel * r.world_size, DType::F32);
    const Tensor shard = full.tensor().flat_slice(r.rank * kNumel, kNumel);
    for (std::int64_t i = 0; i < kNumel; ++i) {
      shard.as<float>()[i] = static_cast<float>(shard_value(1, r.rank, i));
    }
    const Window window = r.comm.expose(shard);
    r.comm.publish(r.stream, window, 1);
    r.comm.gather(r.stream, window, full.tensor(), 1);
    r.comm.await_readers(r.stream);
    r.stream.synchronize();
    const auto expected = [&](std::int64_t i) {
      return static_cast<float>(shard_value(1, static_cast<int>(i / kNumel), i % kNumel));
    };
    EXPECT_EQ(count_wrong<float>(full.tensor(), expected), 0);
  });
}

TEST_P(WindowTest, SeveralWindowsAndEmptyShards_AreKeptApart) {
  run_collective(GetParam(), {}, [](Rank& r) {
    DeviceArray a(r.device, 5, DType::I32);
    DeviceArray b(r.device, 0, DType::F64);
    DeviceArray c(r.device, 9, DType::U8);
    DeviceArray full_a(r.device, 5 * r.world_size, DType::I32);
    DeviceArray full_b(r.device, 0, DType::F64);
    DeviceArray full_c(r.device, 9 * r.world_size, DType::U8);
    a.set_bytes([&](std::int64_t i) { return pattern_byte(1, r.rank, i); });
    c.set_bytes([&](std::int64_t i) { return pattern_byte(2, r.rank, i); });
    const Window windows[] = {r.comm.expose(a.tensor()), r.comm.expose(b.tensor()), r.comm.expose(c.tensor())};
    for (const Window window : windows) r.comm.publish(r.stream, window, 7);
    r.comm.gather(r.stream, windows[2], full_c.tensor(), 7);
    r.comm.gather(r.stream, windows[1], full_b.tensor(), 7);
    r.comm.gather(r.stream, windows[0], full_a.tensor(), 3);
    r.comm.await_readers(r.stream);
    r.stream.synchronize();
    const auto expected_a = [&](std::int64_t i) { return pattern_byte(1, static_cast<int>(i / 20), i % 20); };
    const auto expected_c = [&](std::int64_t i) { return pattern_byte(2, static_cast<int>(i / 9), i % 9); };
    EXPECT_EQ(count_wrong_bytes(full_a.tensor(), expected_a), 0);
    EXPECT_EQ(count_wrong_bytes(full_c.tensor(), expected_c), 0);
    EXPECT_TRUE(full_b.guards_are_intact());
  });
}

// Version 2 is published on a free stream before version 1 on a held one.
TEST_P(WindowTest, PublishOnTwoStreams_NeverTakesAVersionBack) {
  RigOptions options;
  options.comm.deadline = std::chrono::milliseconds(5000);
  options.runtime.deadline = options.comm.deadline;
  run_collective(GetParam(), options, [](Rank& r) {
    DeviceArray shard(r.device, 10, DType::F32);
    DeviceArray full(r.device, 10 * r.world_size, DType::F32);
    const auto held = r.device.make_stream(StreamRole::Copy, "held");
    const Window window = r.comm.expose(shard.tensor());
    std::atomic<bool> is_let_go{false};
    held->run_polled("hold", {}, {}, [&](Workers&) { return is_let_go ? Progress::Done : Progress::Pending; });
    r.comm.publish(*held, window, 1);
    r.comm.publish(r.stream, window, 2);
    r.stream.synchronize();
    is_let_go = true;
    held->synchronize();
    r.comm.gather(r.stream, window, full.tensor(), 2);
    r.comm.await_readers(r.stream);
    r.stream.synchronize();
  });
}

// The last rank's gather cannot start before it is let go. Until then await_readers must hold everybody else, however
// much else they do.
TEST_P(WindowPeersTest, AwaitReaders_HoldsTheWriterUntilTheSlowestReaderIsDone) {
  const int slow = GetParam().world_size - 1;
  std::atomic<bool> is_let_go{false};
  std::atomic<int> num_looked{0};
  run_collective(GetParam(), {}, [&](Rank& r) {
    constexpr std::int64_t kNumel = 64;
    DeviceArray shard(r.device, kNumel, DType::I64);
    DeviceArray full(r.device, kNumel * r.world_size, DType::I64);
    shard.set<std::int64_t>([&](std::int64_t i) { return shard_value(1, r.rank, i); });
    const auto other = r.device.make_stream(StreamRole::Compute, "other");
    const auto overwritten = r.device.make_event("overwritten");
    const Window window = r.comm.expose(shard.tensor());
    r.comm.publish(r.stream, window, 1);
    if (r.rank == slow) {
      r.stream.run_polled("hold", {}, {}, [&](Workers&) { return is_let_go ? Progress::Done : Progress::Pending; });
    }
    r.comm.gather(r.stream, window, full.tensor(), 1);
    if (r.rank != slow) {
      r.comm.await_readers(r.stream);
      r.stream.fill(shard.tensor().data(), 0, shard.tensor().num_bytes());
      r.stream.record(*overwritten);
      for (int i = 0; i < 300; ++i) {
        other->run("work", {}, {}, [](Workers&) {});
        other->synchronize();
        EXPECT_FALSE(overwritten->is_complete());
      }
      ++num_looked;
    } else {
      EXPECT_TRUE(wait_until([&] { return num_looked == r.world_size - 1; }));
      is_let_go = true;
    }
    r.stream.synchronize();
    const auto expected = [&](std::int64_t i) { return shard_value(1, static_cast<int>(i / kNumel), i % kNumel); };
    EXPECT_EQ(count_wrong<std::int64_t>(full.tensor(), expected), 0);
    r.comm.await_readers(r.stream);
    r.stream.synchronize();
  });
}

TEST_P(WindowPeersTest, GatherNeedsOnlyTheVersion_NotThatPeersGatherToo) {
  std::atomic<int> num_done{0};
  run_collective(GetParam(), {}, [&](Rank& r) {
    DeviceArray shard(r.device, 10, DType::I64);
    DeviceArray full(r.device, 10 * r.world_size, DType::I64);
    shard.set<std::int64_t>([&](std::int64_t i) { return shard_value(1, r.rank, i); });
    const Window window = r.comm.expose(shard.tensor());
    r.comm.publish(r.stream, window, 1);
    r.stream.synchronize();
    // One rank at a time, each after the one before has finished its own.
    EXPECT_TRUE(wait_until([&] { return num_done == r.rank; }));
    r.comm.gather(r.stream, window, full.tensor(), 1);
    r.stream.synchronize();
    ++num_done;
    r.comm.await_readers(r.stream);
    r.stream.synchronize();
  });
}

// One-sided gathers need nothing of the peers, so a rank could run away from them, and what it remembers of its
// operations would be overwritten before they have compared it.
TEST_P(WindowPeersTest, RankFarAhead_WaitsForTheSlowest) {
  constexpr int kGathers = 2500;
  std::atomic<int> num_done{0};
  std::atomic<bool> may_others_start{false};
  run_collective(GetParam(), {}, [&](Rank& r) {
    DeviceArray shard(r.device, 1, DType::I64);
    DeviceArray full(r.device, r.world_size, DType::I64);
    const Window window = r.comm.expose(shard.tensor());
    r.comm.publish(r.stream, window, 1);
    r.comm.barrier(r.stream);
    r.stream.synchronize();
    EXPECT_TRUE(wait_until([&] { return r.rank == 0 || may_others_start; }));
    std::vector<std::unique_ptr<Stream>> streams;
    for (int i = 0; i < 8; ++i) streams.push_back(r.device.make_stream(StreamRole::Gather, "gather"));
    for (int i = 0; i < kGathers; ++i) {
      Stream& stream = *streams[static_cast<std::size_t>(i) % streams.size()];
      r.comm.gather(stream, window, full.tensor(), 1);
      if (r.rank == 0) stream.run("count", {}, {}, [&](Workers&) { ++num_done; });
      if (r.rank == 0 && i == 1300) {
        r.stream.run("look", {}, {}, [](Workers&) {});
        r.stream.synchronize();
        EXPECT_LT(num_done.load(), 1100);
        may_others_start = true;
      }
    }
    for (const auto& stream : streams) stream->synchronize();
    r.comm.await_readers(r.stream);
    r.stream.synchronize();
  });
  EXPECT_EQ(num_done.load(), kGathers);
}

TEST_P(WindowPeersTest, VersionNeverPublished_TimesOutNamingRankVersionAndWindow) {
  const int lazy = GetParam().world_size - 1;
  std::atomic<int> num_failed{0};
  ManualClock clock;
  RigOptions options;
  options.comm.clock = clock.reader();
  options.comm.deadline = std::chrono::milliseconds(500);
  const auto errors = collect_errors(GetParam(), options, [&](Rank& r) {
    DeviceArray shard(r.device, 10, DType::F32);
    DeviceArray full(r.device, 10 * r.world_size, DType::F32);
    const Window window = r.comm.expose(shard.tensor());
    r.comm.publish(r.stream, window, 1);
    r.comm.barrier(r.stream);
    r.stream.synchronize();
    if (r.rank == lazy) {
      clock.run_out(options.comm.deadline, r.world_size - 1, num_failed);
    } else {
      r.comm.publish(r.stream, window, 2);
    }
    r.comm.gather(r.stream, window, full.tensor(), 2);
    try {
      r.stream.synchronize();
    } catch (const Error&) {
      ++num_failed;
      throw;
    }
  });
  for (const RankError& error : errors) {
    EXPECT_EQ(error.code, ErrorCode::Timeout) << error.text;
    const std::string part = "rank " + std::to_string(lazy) + " has not published version 2 of window 0";
    EXPECT_NE(error.text.find(part), std::string::npos) << error.text;
  }
}

TEST_P(WindowPeersTest, AnotherWindowOnOneRank_FailsOnAll) {
  const auto errors = collect_errors(GetParam(), {}, [](Rank& r) {
    DeviceArray a(r.device, 10, DType::F32);
    DeviceArray b(r.device, 10, DType::F32);
    DeviceArray full(r.device, 10 * r.world_size, DType::F32);
    const Window first = r.comm.expose(a.tensor());
    const Window second = r.comm.expose(b.tensor());
    r.comm.publish(r.stream, first, 1);
    r.comm.publish(r.stream, second, 1);
    r.comm.gather(r.stream, r.rank == 1 ? second : first, full.tensor(), 1);
    r.comm.await_readers(r.stream);
    r.comm.barrier(r.stream);
    r.stream.synchronize();
  });
  for (const RankError& error : errors) {
    EXPECT_EQ(error.code, ErrorCode::CommFailure) << error.text;
    for (const char* word : {"operation 0", "gather (40 bytes, fp32, window 0)", "gather (40 bytes, fp32, window 1)"}) {
      EXPECT_NE(error.text.find(word), std::string::npos) << error.text;
    }
  }
}

TEST_P(WindowPeersTest, ExposeOfAnotherCount_FailsOnAll) {
  const auto errors = collect_errors(GetParam(), {}, [](Rank& r) {
    DeviceArray a(r.device, 10, DType::F32);
    r.comm.expose(r.rank == 1 ? a.tensor().flat_slice(0, 9) : a.tensor());
  });
  for (const RankError& error : errors) {
    EXPECT_EQ(error.code, ErrorCode::CommFailure) << error.text;
    EXPECT_NE(error.text.find("rank 0 exposes 10 elements of fp32, rank 1 9 of fp32"), std::string::npos) << error.text;
  }
}

// A rank that leaves takes its memory with it: nobody reads it afterwards.
TEST_P(WindowPeersTest, GatherFromARankThatHasLeft_Fails) {
  auto communicators = GetParam().backend->make(GetParam().world_size, {});
  std::atomic<bool> has_left{false};
  run_ranks(GetParam().world_size, [&](int rank, Device& device) {
    auto comm = std::move(communicators[static_cast<std::size_t>(rank)]);
    const auto stream = device.make_stream(StreamRole::Gather, "gather");
    DeviceArray full(device, 10 * GetParam().world_size, DType::F32);
    DeviceArray shard(device, 10, DType::F32);
    const Window window = comm->expose(shard.tensor());
    comm->publish(*stream, window, 1);
    comm->barrier(*stream);
    try {
      stream->synchronize();
      if (rank == 1) {
        comm.reset();
        has_left = true;
        return;
      }
      EXPECT_TRUE(wait_until([&] { return has_left.load(); }));
      comm->gather(*stream, window, full.tensor(), 1);
      stream->synchronize();
      ADD_FAILURE() << "read the memory of a rank that has left";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::CommFailure) << error.what();
      EXPECT_NE(std::string(error.what()).find("rank 1 in operation 1"), std::string::npos) << error.what();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, WindowTest, ::testing::ValuesIn(backend_worlds()), name_world);
INSTANTIATE_TEST_SUITE_P(Backends, WindowPeersTest, ::testing::ValuesIn(backend_worlds(2)), name_world);

}  // namespace
}  // namespace shoal::test
