// Many operations in flight: on one stream, on two, on two communicators, in another order.

#include <atomic>

#include "shoal/collectives/communicator.h"
#include "shoal/tests/collectives/collective_rig.h"

namespace shoal::test {
namespace {

using collectives::Fold;

class CommunicatorOrderTest : public CollectiveTest {};
class CommunicatorPeersTest : public CollectiveTest {};
class CommunicatorMismatchTest : public CollectiveTest {};

// Each operation reads what the one before wrote: x becomes world_size * x, over and over.
TEST_P(CommunicatorOrderTest, BackToBackOnOneStream_EachSeesTheOneBefore) {
  constexpr int kRounds = 6;
  constexpr std::int64_t kNumel = 1000;
  run_collective(GetParam(), {}, [](Rank& r) {
    DeviceArray x(r.device, kNumel * r.world_size, DType::F64);
    DeviceArray shard(r.device, kNumel, DType::F64);
    x.set<double>([](std::int64_t i) { return pattern_integer(1, 0, i); });
    for (int round = 0; round < kRounds; ++round) {
      r.comm.reduce_scatter(r.stream, x.tensor(), shard.tensor(), Fold::Replace);
      r.comm.all_gather(r.stream, shard.tensor(), x.tensor());
      r.comm.all_reduce(r.stream, x.tensor(), x.tensor(), Fold::Replace);
    }
    r.stream.synchronize();
    double factor = 1;
    for (int round = 0; round < 2 * kRounds; ++round) factor *= r.world_size;
    const auto expected = [&](std::int64_t i) { return factor * pattern_integer(1, 0, i); };
    EXPECT_EQ(count_wrong<double>(x.tensor(), expected), 0);
  });
}

// More operations than the library remembers, without a synchronize between.
TEST_P(CommunicatorOrderTest, MoreThanIsRemembered_StaysInOrder) {
  constexpr int kRounds = 1100;
  run_collective(GetParam(), {}, [](Rank& r) {
    DeviceArray x(r.device, 3, DType::I64);
    DeviceArray total(r.device, 3, DType::I64);
    x.set<std::int64_t>([&](std::int64_t i) { return r.rank + i; });
    total.set<std::int64_t>([](std::int64_t) { return 0; });
    for (int round = 0; round < kRounds; ++round) r.comm.all_reduce(r.stream, x.tensor(), total.tensor(), Fold::Into);
    r.stream.synchronize();
    const std::int64_t ranks = r.world_size * (r.world_size - 1) / 2;
    const auto expected = [&](std::int64_t i) { return kRounds * (ranks + r.world_size * i); };
    EXPECT_EQ(count_wrong<std::int64_t>(total.tensor(), expected), 0);
  });
}

TEST_P(CommunicatorOrderTest, OneCommunicatorOnTwoStreams_KeepsTheOrderOfTheCalls) {
  constexpr int kRounds = 50;
  constexpr std::int64_t kNumel = 300;
  for (const std::uint64_t seed : {0, 1, 2}) {
    RigOptions options;
    if (seed != 0) options.runtime.execution = HostExecution::ThreadPerStream;
    options.runtime.delay_seed = seed;
    run_collective(GetParam(), options, [](Rank& r) {
      const auto other = r.device.make_stream(StreamRole::Gather, "other");
      DeviceArray shard(r.device, kNumel, DType::I64);
      DeviceArray full(r.device, kNumel * r.world_size, DType::I64);
      DeviceArray in(r.device, kNumel, DType::I64);
      DeviceArray out(r.device, kNumel, DType::I64);
      out.set<std::int64_t>([](std::int64_t) { return 0; });
      in.set<std::int64_t>([&](std::int64_t i) { return pattern_integer(2, r.rank, i); });
      shard.set<std::int64_t>([&](std::int64_t i) { return pattern_integer(3, r.rank, i); });
      for (int round = 0; round < kRounds; ++round) {
        r.comm.all_gather(*other, shard.tensor(), full.tensor());
        r.comm.all_reduce(r.stream, in.tensor(), out.tensor(), Fold::Into);
      }
      other->synchronize();
      r.stream.synchronize();
      const auto gathered = [&](std::int64_t i) {
        return std::int64_t{pattern_integer(3, static_cast<int>(i / kNumel), i % kNumel)};
      };
      EXPECT_EQ(count_wrong<std::int64_t>(full.tensor(), gathered), 0);
      const auto summed = [&](std::int64_t i) {
        std::int64_t sum = 0;
        for (int rank = 0; rank < r.world_size; ++rank) sum += kRounds * pattern_integer(2, rank, i);
        return sum;
      };
      EXPECT_EQ(count_wrong<std::int64_t>(out.tensor(), summed), 0);
    });
  }
}

// The second operation's stream is free, the first one's is held up: it must wait all the same, as on every backend
// whose operations share one channel.
TEST_P(CommunicatorPeersTest, OperationAfterOneThatIsHeldUp_WaitsForItsTurn) {
  std::atomic<bool> is_let_go{false};
  std::atomic<int> num_looked{0};
  run_collective(GetParam(), {}, [&](Rank& r) {
    const auto other = r.device.make_stream(StreamRole::Gather, "other");
    const auto work = r.device.make_stream(StreamRole::Compute, "work");
    const auto passed = r.device.make_event("passed");
    r.stream.run_polled("hold", {}, {}, [&](Workers&) { return is_let_go ? Progress::Done : Progress::Pending; });
    r.comm.barrier(r.stream);
    r.comm.barrier(*other);
    other->record(*passed);
    for (int i = 0; i < 200; ++i) {
      work->run("work", {}, {}, [](Workers&) {});
      work->synchronize();
      EXPECT_FALSE(passed->is_complete());
    }
    if (++num_looked == r.world_size) is_let_go = true;
    other->synchronize();
    r.stream.synchronize();
  });
}

// Half of the ranks enqueue on the first communicator first, the others on the second: with one thread per rank, none
// may sit waiting for one while its peers wait for the other.
TEST_P(CommunicatorOrderTest, TwoCommunicatorsOnTwoStreams_InOppositeOrders_BothFinish) {
  constexpr int kRounds = 30;
  constexpr std::int64_t kNumel = 500;
  auto second = GetParam().backend->make(GetParam().world_size, {});
  run_collective(GetParam(), {}, [&](Rank& r) {
    const auto other = r.device.make_stream(StreamRole::Gather, "other");
    collectives::Communicator& other_comm = *second[static_cast<std::size_t>(r.rank)];
    DeviceArray a(r.device, kNumel, DType::F32);
    DeviceArray b(r.device, kNumel, DType::F32);
    DeviceArray sum_a(r.device, kNumel, DType::F32);
    DeviceArray sum_b(r.device, kNumel, DType::F32);
    a.set<float>([&](std::int64_t i) { return static_cast<float>(pattern_integer(4, r.rank, i)); });
    b.set<float>([&](std::int64_t i) { return static_cast<float>(pattern_integer(5, r.rank, i)); });
    for (int round = 0; round < kRounds; ++round) {
      if (r.rank % 2 == 0) r.comm.all_reduce(r.stream, a.tensor(), sum_a.tensor(), Fold::Replace);
      other_comm.all_reduce(*other, b.tensor(), sum_b.tensor(), Fold::Replace);
      if (r.rank % 2 == 1) r.comm.all_reduce(r.stream, a.tensor(), sum_a.tensor(), Fold::Replace);
    }
    if (r.rank % 2 == 0) other->synchronize();
    r.stream.synchronize();
    other->synchronize();
    for (const auto& [seed, sum] : {std::pair{4, &sum_a}, std::pair{5, &sum_b}}) {
      const auto expected = [&](std::int64_t i) {
        float total = 0;
        for (int rank = 0; rank < r.world_size; ++rank) total += static_cast<float>(pattern_integer(seed, rank, i));
        return total;
      };
      EXPECT_EQ(count_wrong<float>(sum->tensor(), expected), 0) << seed;
    }
  });
}

void expect_all_name(const std::vector<RankError>& errors, const std::vector<std::string>& words) {
  for (std::size_t rank = 0; rank < errors.size(); ++rank) {
    EXPECT_EQ(errors[rank].code, ErrorCode::CommFailure) << "rank " << rank << ": " << errors[rank].text;
    for (const std::string& word : words) {
      EXPECT_NE(errors[rank].text.find(word), std::string::npos) << "rank " << rank << ": " << errors[rank].text;
    }
  }
}

TEST_P(CommunicatorMismatchTest, AnotherKindOnOneRank_FailsOnAllNamingTheFirstDifference) {
  const int odd_one = GetParam().world_size - 1;
  const auto errors = collect_errors(GetParam(), {}, [&](Rank& r) {
    DeviceArray x(r.device, 8 * r.world_size, DType::F32);
    DeviceArray shard(r.device, 8, DType::F32);
    for (int round = 0; round < 3; ++round) r.comm.barrier(r.stream);
    if (r.rank == odd_one) {
      r.comm.reduce_scatter(r.stream, x.tensor(), shard.tensor(), Fold::Replace);
    } else {
      r.comm.all_gather(r.stream, shard.tensor(), x.tensor());
    }
    r.comm.barrier(r.stream);
    r.stream.synchronize();
  });
  expect_all_name(errors, {"operation 3", "all_gather (32 bytes, fp32)", "reduce_scatter (32 bytes, fp32)",
                           "rank " + std::to_string(odd_one)});
}

TEST_P(CommunicatorMismatchTest, OtherBytesDTypeRootOrFold_FailOnAll) {
  struct Case {
    std::function<void(Rank&, const Tensor& x, const Tensor& y, bool is_odd)> call;
    std::vector<std::string> words;
  };
  const std::vector<Case> cases = {
      {[](Rank& r, const Tensor& x, const Tensor&, bool odd) {
         r.comm.broadcast(r.stream, odd ? x.flat_slice(0, 7) : x, 0);
       },
       {"broadcast (32 bytes", "broadcast (28 bytes"}},
      {[](Rank& r, const Tensor& x, const Tensor&, bool odd) {
         r.comm.broadcast(r.stream, Tensor(x.data(), {8}, odd ? DType::I32 : DType::F32), 0);
       },
       {"fp32", "i32"}},
      {[](Rank& r, const Tensor& x, const Tensor&, bool odd) { r.comm.broadcast(r.stream, x, odd ? 1 : 0); },
       {"from rank 0", "from rank 1"}},
      {[](Rank& r, const Tensor& x, const Tensor& y, bool odd) {
         r.comm.all_reduce(r.stream, x, y, odd ? Fold::Into : Fold::Replace);
       },
       {"all_reduce (32 bytes, fp32)", "all_reduce (32 bytes, fp32, folded)"}},
  };
  for (const Case& test_case : cases) {
    const auto errors = collect_errors(GetParam(), {}, [&](Rank& r) {
      DeviceArray x(r.device, 8, DType::F32);
      DeviceArray y(r.device, 8, DType::F32);
      test_case.call(r, x.tensor(), y.tensor(), r.rank == 1);
      r.comm.barrier(r.stream);
      r.stream.synchronize();
    });
    expect_all_name(errors, test_case.words);
    expect_all_name(errors, {"operation 0"});
  }
}

// Operations 0 and 1 are exchanged on one rank, on streams of their own, which may find out about either first.
TEST_P(CommunicatorMismatchTest, ExchangedOnTwoStreams_NamesTheFirst) {
  const auto errors = collect_errors(GetParam(), {}, [](Rank& r) {
    const auto other = r.device.make_stream(StreamRole::Gather, "other");
    DeviceArray x(r.device, 8, DType::F32);
    DeviceArray y(r.device, 8, DType::F32);
    if (r.rank == 1) r.comm.all_reduce(*other, x.tensor(), y.tensor(), Fold::Replace);
    r.comm.barrier(r.stream);
    if (r.rank != 1) r.comm.all_reduce(*other, x.tensor(), y.tensor(), Fold::Replace);
    r.comm.barrier(r.stream);
    r.stream.synchronize();
    other->synchronize();
  });
  expect_all_name(errors, {"operation 0", "issued barrier", "issued all_reduce (32 bytes, fp32)"});
}

TEST_P(CommunicatorMismatchTest, SendRecv_PartnersDisagree_FailsOnAll) {
  const auto errors = collect_errors(GetParam(), {}, [](Rank& r) {
    DeviceArray data(r.device, 10, DType::F32);
    const Tensor none;
    if (r.rank == 0) r.comm.send_recv(r.stream, data.tensor(), 1, none, -1);
    if (r.rank == 1) r.comm.send_recv(r.stream, none, -1, data.tensor().flat_slice(0, 9), 0);
    if (r.rank > 1) r.comm.send_recv(r.stream, none, -1, none, -1);
    r.comm.barrier(r.stream);
    r.stream.synchronize();
  });
  expect_all_name(errors, {"expects 36 bytes of fp32 from rank 0", "send_recv (40 bytes, fp32, to rank 1)"});
}

TEST_P(CommunicatorMismatchTest, SendRecv_NobodyReceives_FailsOnAll) {
  const auto errors = collect_errors(GetParam(), {}, [](Rank& r) {
    DeviceArray data(r.device, 10, DType::F32);
    const Tensor none;
    r.comm.send_recv(r.stream, r.rank == 0 ? data.tensor() : none, 1, none, -1);
    r.comm.barrier(r.stream);
    r.stream.synchronize();
  });
  expect_all_name(errors, {"sends to rank 1 in operation 0", "does not receive from it"});
}

INSTANTIATE_TEST_SUITE_P(Backends, CommunicatorOrderTest, ::testing::ValuesIn(backend_worlds()), name_world);
INSTANTIATE_TEST_SUITE_P(Backends, CommunicatorPeersTest, ::testing::ValuesIn(backend_worlds(2)), name_world);
INSTANTIATE_TEST_SUITE_P(Backends, CommunicatorMismatchTest, ::testing::ValuesIn(backend_worlds(2)), name_world);

}  // namespace
}  // namespace shoal::test
