// A failure on one rank surfaces on all, soon, naming rank and operation.

#include <atomic>
#include <cstring>
#include <memory>
#include <string_view>

#include "shoal/collectives/communicator.h"
#include "shoal/tests/collectives/collective_rig.h"
#include "shoal/tests/support/rank_threads.h"

namespace shoal::test {
namespace {

using collectives::Communicator;
using collectives::Fold;

constexpr std::chrono::milliseconds kDeadline{500};

class CommunicatorFailureTest : public CollectiveTest {};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_P(CommunicatorFailureTest, OneRankNeverComes_AllTimeOutNamingIt) {
  const int world_size = GetParam().world_size;
  const int missing = world_size - 1;
  std::atomic<int> num_failed{0};
  ManualClock clock;
  RigOptions options;
  options.comm.deadline = kDeadline;
  options.comm.clock = clock.reader();
  const auto errors = collect_errors(GetParam(), options, [&](Rank& r) {
    DeviceArray shard(r.device, 5, DType::F32);
    DeviceArray full(r.device, 5 * r.world_size, DType::F32);
    r.comm.barrier(r.stream);
    if (r.rank == missing) {
      r.stream.synchronize();
      clock.run_out(kDeadline, world_size - 1, num_failed);
    }
    r.comm.all_gather(r.stream, shard.tensor(), full.tensor());
    try {
      r.stream.synchronize();
    } catch (const Error&) {
      ++num_failed;
      throw;
    }
  });
  for (int rank = 0; rank < world_size; ++rank) {
    const RankError& error = errors[static_cast<std::size_t>(rank)];
    EXPECT_EQ(error.code, ErrorCode::Timeout) << error.text;
    EXPECT_TRUE(contains(error.text, "timed out in operation 1, all_gather (20 bytes, fp32) after 500 ms"))
        << error.text;
    EXPECT_TRUE(contains(error.text, "rank " + std::to_string(missing) + " has not reached it")) << error.text;
  }
}

// The deadline counts from the last progress of any member: the rank that is missed publishes now and then.
TEST_P(CommunicatorFailureTest, ProgressOfAnyMember_PutsOffTheDeadline) {
  constexpr int kRounds = 4;
  ManualClock clock;
  RigOptions options;
  options.comm.deadline = kDeadline;
  options.comm.clock = clock.reader();
  const int last = GetParam().world_size - 1;
  run_collective(GetParam(), options, [&](Rank& r) {
    DeviceArray data(r.device, 5, DType::F32);
    const collectives::Window window = r.comm.expose(data.tensor());
    for (std::uint64_t version = 1; r.rank == last && version <= kRounds; ++version) {
      clock.advance(kDeadline * 3 / 4);
      r.comm.publish(r.stream, window, version);
      r.stream.synchronize();
      clock.forget_readers();
      clock.wait_for_readers(r.world_size - 1);
    }
    r.comm.barrier(r.stream);
  });
}

TEST_P(CommunicatorFailureTest, Abort_UnblocksEveryPeerWithTheReason) {
  const auto errors = collect_errors(GetParam(), {}, [](Rank& r) {
    DeviceArray x(r.device, 5, DType::F32);
    DeviceArray y(r.device, 5, DType::F32);
    r.comm.barrier(r.stream);
    r.stream.synchronize();
    if (r.rank == 0) {
      r.comm.abort("the user pressed a key");
      r.comm.abort("another reason");
    }
    for (int round = 0; round < 3; ++round) r.comm.all_reduce(r.stream, x.tensor(), y.tensor(), Fold::Replace);
    r.stream.synchronize();
  });
  for (const RankError& error : errors) {
    EXPECT_EQ(error.code, ErrorCode::Aborted) << error.text;
    // Peers may still have been in the barrier.
    EXPECT_TRUE(contains(error.text, "] aborted by rank 0 of 'world': the user pressed a key")) << error.text;
  }
}

TEST_P(CommunicatorFailureTest, AfterAbort_EveryKindOfOperationFails) {
  const auto errors = collect_errors(GetParam(), {}, [](Rank& r) {
    DeviceArray shard(r.device, 2, DType::F32);
    DeviceArray full(r.device, 2 * r.world_size, DType::F32);
    DeviceArray other(r.device, 2 * r.world_size, DType::F32);
    const collectives::Window window = r.comm.expose(shard.tensor());
    r.comm.abort("over");
    const std::vector<std::function<void(Stream&)>> calls = {
        [&](Stream& s) { r.comm.all_gather(s, shard.tensor(), full.tensor()); },
        [&](Stream& s) { r.comm.reduce_scatter(s, full.tensor(), shard.tensor(), Fold::Replace); },
        [&](Stream& s) { r.comm.all_reduce(s, full.tensor(), other.tensor(), Fold::Into); },
        [&](Stream& s) { r.comm.broadcast(s, full.tensor(), 0); },
        [&](Stream& s) { r.comm.all_to_all(s, full.tensor(), other.tensor()); },
        [&](Stream& s) { r.comm.send_recv(s, shard.tensor(), r.rank, full.tensor().flat_slice(0, 2), r.rank); },
        [&](Stream& s) { r.comm.barrier(s); },
        [&](Stream& s) { r.comm.publish(s, window, 1); },
        [&](Stream& s) { r.comm.gather(s, window, full.tensor(), 1); },
        [&](Stream& s) { r.comm.await_readers(s); },
    };
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const auto stream = r.device.make_stream(StreamRole::Gather, "one call");
      calls[i](*stream);
      try {
        stream->synchronize();
        ADD_FAILURE() << "call " << i << " did not fail";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::Aborted) << error.what();
      }
    }
  });
  for (const RankError& error : errors) EXPECT_EQ(error.code, std::nullopt) << error.text;
}

// When abort returns, nobody reads this rank's memory any more: it is overwritten at once, while peers were copying
// from it.
TEST_P(CommunicatorFailureTest, Abort_ReturnsWhenNoPeerIsCopying) {
  constexpr std::int64_t kNumel = 1 << 20;
  RigOptions options;
  options.comm.chunk_bytes = kNumel;
  for (int round = 0; round < 6; ++round) {
    std::atomic<int> num_gathers{0};
    const auto errors = collect_errors(GetParam(), options, [&](Rank& r) {
      DeviceArray full(r.device, kNumel * r.world_size, DType::U8);
      DeviceArray shard(r.device, kNumel, DType::U8);
      const auto fill = [](const Tensor& tensor, int value) {
        std::memset(tensor.data(), value, static_cast<std::size_t>(tensor.num_bytes()));
      };
      fill(shard.tensor(), 1);
      const collectives::Window window = r.comm.expose(shard.tensor());
      r.comm.publish(r.stream, window, 1);
      r.stream.synchronize();
      if (r.rank == 0) {
        EXPECT_TRUE(wait_until([&] { return num_gathers >= r.world_size; }));
        r.comm.abort("enough");
        fill(shard.tensor(), 2);
        return;
      }
      try {
        while (true) {
          fill(full.tensor(), 0);
          r.comm.gather(r.stream, window, full.tensor(), 1);
          r.stream.synchronize();
          ++num_gathers;
        }
      } catch (const Error&) {
        const std::string_view read(full.as<char>(), static_cast<std::size_t>(kNumel));
        EXPECT_EQ(read.find('\2'), std::string_view::npos) << "read after abort had returned";
        throw;
      }
    });
    EXPECT_EQ(errors[0].code, std::nullopt) << errors[0].text;
    for (std::size_t rank = 1; rank < errors.size(); ++rank) {
      EXPECT_EQ(errors[rank].code, ErrorCode::Aborted) << errors[rank].text;
    }
  }
}

TEST_P(CommunicatorFailureTest, ExceptionOnOneRank_FailsTheOthersAndIsTheOneRethrown) {
  std::atomic<int> num_told{0};
  const auto run = [&] {
    run_collective(GetParam(), {}, [&](Rank& r) {
      DeviceArray x(r.device, 5, DType::F32);
      try {
        r.comm.all_reduce(r.stream, x.tensor(), x.tensor(), Fold::Replace);
        r.stream.synchronize();
        if (r.rank == 1) throw Error(ErrorCode::Corrupt, "[reader] this rank's file is damaged", 1);
        r.comm.all_reduce(r.stream, x.tensor(), x.tensor(), Fold::Replace);
        r.stream.synchronize();
      } catch (const Error& error) {
        if (r.rank == 1) throw;
        EXPECT_EQ(error.code(), ErrorCode::CommFailure) << error.what();
        EXPECT_TRUE(contains(error.what(), "operation 1, all_reduce (20 bytes, fp32): rank 1 has left"))
            << error.what();
        ++num_told;
        throw;
      }
    });
  };
  try {
    run();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Corrupt) << error.what();
  }
  EXPECT_EQ(num_told.load(), GetParam().world_size - 1);
}

// The stream had failed for a reason of its own, so that rank's operation never runs.
TEST_P(CommunicatorFailureTest, OperationOnAFailedStream_FailsTheOthersNamingRankAndOperation) {
  const auto errors = collect_errors(GetParam(), {}, [](Rank& r) {
    DeviceArray x(r.device, 5, DType::F32);
    r.comm.barrier(r.stream);
    if (r.rank == 1) {
      r.stream.run("break", {}, {}, [](Workers&) { fail(ErrorCode::DeviceFailure, "[break] a kernel failed"); });
    }
    r.comm.all_reduce(r.stream, x.tensor(), x.tensor(), Fold::Replace);
    r.stream.synchronize();
  });
  for (std::size_t rank = 0; rank < errors.size(); ++rank) {
    const RankError& error = errors[rank];
    if (rank == 1) {
      EXPECT_EQ(error.code, ErrorCode::DeviceFailure) << error.text;
      continue;
    }
    EXPECT_EQ(error.code, ErrorCode::CommFailure) << error.text;
    EXPECT_TRUE(contains(error.text, "rank 1 of 'world' dropped operation 1, all_reduce (20 bytes, fp32)"))
        << error.text;
    EXPECT_TRUE(contains(error.text, "[break] a kernel failed")) << error.text;
  }
}

// A stream that goes with an operation on it that never ends gives up after its device's deadline; peers fail then.
TEST_P(CommunicatorFailureTest, StreamDestroyedBeforePeersCome_FailsThemNamingRankAndOperation) {
  RigOptions options;
  options.runtime.deadline = std::chrono::milliseconds(50);
  std::atomic<bool> is_dropped{false};
  const auto errors = collect_errors(GetParam(), options, [&](Rank& r) {
    DeviceArray x(r.device, 5, DType::F32);
    if (r.rank == 0) {
      const auto hasty = r.device.make_stream(StreamRole::Gather, "hasty");
      r.comm.broadcast(*hasty, x.tensor(), 1);
    } else {
      EXPECT_TRUE(wait_until([&] { return is_dropped.load(); }));
    }
    is_dropped = true;
    r.comm.broadcast(r.stream, x.tensor(), 1);
    r.stream.synchronize();
  });
  for (const RankError& error : errors) {
    EXPECT_EQ(error.code, ErrorCode::CommFailure) << error.text;
    EXPECT_TRUE(contains(error.text, "rank 0 of 'world' dropped operation 0, broadcast (20 bytes, fp32, from rank 1)"))
        << error.text;
  }
}

TEST_P(CommunicatorFailureTest, RankThatIsDone_LeavesWithoutDisturbingTheOthers) {
  for (int round = 0; round < 20; ++round) {
    run_collective(GetParam(), {}, [](Rank& r) {
      DeviceArray x(r.device, 500, DType::F32);
      x.set<float>([](std::int64_t) { return 1.0F; });
      r.comm.all_reduce(r.stream, x.tensor(), x.tensor(), Fold::Replace);
      r.stream.synchronize();
      const auto expected = [&](std::int64_t) { return static_cast<float>(r.world_size); };
      EXPECT_EQ(count_wrong<float>(x.tensor(), expected), 0);
    });
  }
}

// The communicator goes first, its operation is still on the stream: peers need it, and get it.
TEST_P(CommunicatorFailureTest, DestroyedWithWorkOnTheStream_TheWorkGoesOn) {
  auto communicators = GetParam().backend->make(GetParam().world_size, {});
  run_ranks(GetParam().world_size, [&](int rank, Device& device) {
    DeviceArray x(device, 500, DType::F32);
    x.set<float>([](std::int64_t) { return 2.0F; });
    const auto stream = device.make_stream(StreamRole::Reduce, "collectives");
    const auto comm =
        std::make_unique<std::unique_ptr<Communicator>>(std::move(communicators[static_cast<std::size_t>(rank)]));
    (*comm)->all_reduce(*stream, x.tensor(), x.tensor(), Fold::Replace);
    comm->reset();
    stream->synchronize();
    const auto expected = [&](std::int64_t) { return 2.0F * static_cast<float>(GetParam().world_size); };
    EXPECT_EQ(count_wrong<float>(x.tensor(), expected), 0);
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, CommunicatorFailureTest, ::testing::ValuesIn(backend_worlds(2)), name_world);

}  // namespace
}  // namespace shoal::test
