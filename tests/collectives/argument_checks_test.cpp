// What a call refuses at once, and how it says so; what it counts.

#include "shoal/collectives/argument_checks.h"

#include "shoal/collectives/communicator.h"
#include "shoal/tests/collectives/collective_rig.h"

namespace shoal::test {
namespace {

using collectives::CollectiveKind;
using collectives::Fold;
using collectives::Window;

class ArgumentsTest : public CollectiveTest {};

void expect_refused(const std::function<void()>& call, const std::string& text) {
  try {
    call();
    ADD_FAILURE() << "not refused: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST_P(ArgumentsTest, CountsAndDTypes_AreRefusedByValue) {
  run_collective(GetParam(), {}, [](Rank& r) {
    DeviceArray x(r.device, 1000 * r.world_size + 3, DType::F32);
    DeviceArray y(r.device, 2000, DType::I32);
    const Tensor full = x.tensor().flat_slice(0, 10 * r.world_size);
    const Tensor five = x.tensor().flat_slice(0, 5);
    auto& comm = r.comm;
    auto& stream = r.stream;
    const std::string world = std::to_string(r.world_size);
    const std::string full_numel = std::to_string(10 * r.world_size);
    if (r.world_size == 4) {
      const Tensor odd = x.tensor().flat_slice(0, 1003);
      expect_refused([&] { comm.reduce_scatter(stream, odd, five, Fold::Replace); },
                     "[reduce_scatter] full has 1003 elements, not a multiple of world size 4");
      expect_refused([&] { comm.all_to_all(stream, odd, x.tensor().flat_slice(2000, 1003)); },
                     "[all_to_all] send has 1003 elements, not a multiple of world size 4");
    }
    expect_refused([&] { comm.all_gather(stream, five, full); }, "[all_gather] shard has 5 elements, full " +
                                                                     full_numel + "; at world size " + world +
                                                                     " the shard must have 10");
    expect_refused([&] { comm.all_gather(stream, y.tensor().flat_slice(0, 10), full); },
                   "[all_gather] shard is i32 but full is fp32");
    expect_refused([&] { comm.all_reduce(stream, y.tensor(), y.tensor(), Fold::Replace); },
                   "[all_reduce] cannot sum i32; use fp32, fp64 or i64");
    expect_refused([&] { comm.all_reduce(stream, five, full, Fold::Replace); },
                   "[all_reduce] in has 5 elements but out has");
    expect_refused([&] { comm.broadcast(stream, {}, 0); }, "[broadcast] data is undefined");
    expect_refused([&] { comm.broadcast(stream, five, r.world_size); },
                   "[broadcast] root is rank " + world + ", outside world size " + world);
    expect_refused([&] { comm.send_recv(stream, five, -1, {}, 0); }, "[send_recv] to is rank -1");
    expect_refused([&] { comm.send_recv(stream, {}, 0, five, r.world_size); }, "[send_recv] from is rank " + world);
    EXPECT_EQ(comm.counters().total_calls(), 0);
  });
}

TEST_P(ArgumentsTest, Overlap_IsRefusedBesideTheLegalPlace) {
  run_collective(GetParam(), {}, [](Rank& r) {
    DeviceArray x(r.device, 64 * r.world_size, DType::F32);
    const Tensor& full = x.tensor();
    const Tensor own = full.flat_slice(r.rank * 64, 64);
    DeviceArray other(r.device, 64 * r.world_size, DType::F32);
    const Tensor one_off(other.as<float>() + 1, {64 * r.world_size - 1}, DType::F32);
    const Tensor start(other.as<float>(), {64 * r.world_size - 1}, DType::F32);
    auto& comm = r.comm;
    expect_refused([&] { comm.reduce_scatter(r.stream, full, own, Fold::Into); }, "full and shard overlap");
    expect_refused([&] { comm.all_reduce(r.stream, full, full, Fold::Into); }, "in and out overlap");
    expect_refused([&] { comm.all_reduce(r.stream, start, one_off, Fold::Replace); }, "in and out overlap");
    expect_refused([&] { comm.all_to_all(r.stream, full, full); }, "send and recv overlap");
    expect_refused([&] { comm.send_recv(r.stream, start, 0, one_off, 0); }, "send and recv overlap");
    if (r.world_size > 1) {
      const Tensor elsewhere = full.flat_slice((r.rank + 1) % r.world_size * 64, 64);
      expect_refused([&] { comm.all_gather(r.stream, elsewhere, full); }, "shard and full overlap");
      expect_refused([&] { comm.reduce_scatter(r.stream, full, elsewhere, Fold::Replace); }, "full and shard overlap");
    }
    comm.all_gather(r.stream, own, full);  // in order again after all that was refused
    r.stream.synchronize();
  });
}

TEST_P(ArgumentsTest, Windows_RefuseWhatWasNotExposedAndVersionsThatDoNotGrow) {
  run_collective(GetParam(), {}, [](Rank& r) {
    DeviceArray shard(r.device, 8, DType::F32);
    DeviceArray full(r.device, 8 * r.world_size, DType::F32);
    auto& comm = r.comm;
    expect_refused([&] { comm.publish(r.stream, Window{}, 1); },
                   "[publish] there is no window -1; 0 windows of 'world'");
    expect_refused([&] { comm.expose({}); }, "[expose] shard is undefined");
    const Window window = comm.expose(shard.tensor());
    expect_refused([&] { comm.gather(r.stream, Window{1}, full.tensor(), 1); },
                   "[gather] there is no window 1; 1 windows");
    expect_refused([&] { comm.gather(r.stream, window, full.tensor(), 0); }, "[gather] version 0 is never published");
    expect_refused([&] { comm.publish(r.stream, window, 0); }, "[publish] version 0 of window 0 does not follow 0");
    comm.publish(r.stream, window, 5);
    expect_refused([&] { comm.publish(r.stream, window, 5); }, "[publish] version 5 of window 0 does not follow 5");
    expect_refused([&] { comm.gather(r.stream, window, shard.tensor().flat_slice(0, 7 / r.world_size), 5); },
                   "[gather]");
    r.stream.synchronize();
  });
}

TEST_P(ArgumentsTest, Counters_CountCallsAndBytesOnTheWire) {
  run_collective(GetParam(), {}, [](Rank& r) {
    const std::int64_t n = r.world_size;
    DeviceArray shard(r.device, 100, DType::F32);
    DeviceArray full(r.device, 100 * n, DType::F32);
    DeviceArray other(r.device, 100 * n, DType::F32);
    const Window window = r.comm.expose(shard.tensor());
    r.comm.publish(r.stream, window, 1);
    for (int round = 0; round < 2; ++round) r.comm.all_gather(r.stream, shard.tensor(), full.tensor());
    r.comm.reduce_scatter(r.stream, full.tensor(), shard.tensor(), Fold::Replace);
    r.comm.all_reduce(r.stream, full.tensor(), other.tensor(), Fold::Replace);
    r.comm.broadcast(r.stream, full.tensor(), 0);
    r.comm.all_to_all(r.stream, full.tensor(), other.tensor());
    r.comm.send_recv(r.stream, shard.tensor(), r.rank, other.tensor().flat_slice(0, 100), r.rank);
    r.comm.barrier(r.stream);
    r.comm.publish(r.stream, window, 2);
    r.comm.gather(r.stream, window, full.tensor(), 2);
    r.comm.await_readers(r.stream);
    r.stream.synchronize();

    const auto& counters = r.comm.counters();
    const auto calls = [&](CollectiveKind kind) { return counters.calls[static_cast<std::size_t>(kind)]; };
    const auto bytes = [&](CollectiveKind kind) { return counters.wire_bytes[static_cast<std::size_t>(kind)]; };
    EXPECT_EQ(counters.total_calls(), 9);
    EXPECT_EQ(calls(CollectiveKind::AllGather), 2);
    EXPECT_EQ(calls(CollectiveKind::Barrier), 1);
    EXPECT_EQ(bytes(CollectiveKind::AllGather), 2 * (n - 1) * 400);
    EXPECT_EQ(bytes(CollectiveKind::ReduceScatter), (n - 1) * 400);
    EXPECT_EQ(bytes(CollectiveKind::AllReduce), 2 * (n - 1) * 400);
    EXPECT_EQ(bytes(CollectiveKind::Broadcast), n == 1 ? 0 : 400 * n);
    EXPECT_EQ(bytes(CollectiveKind::AllToAll), (n - 1) * 400);
    EXPECT_EQ(bytes(CollectiveKind::SendRecv), 0);  // to itself
    EXPECT_EQ(bytes(CollectiveKind::WindowGather), (n - 1) * 400);
  });
}

TEST(ArgumentChecks, OwnPlace_IsTheRanksPartOfFull) {
  float data[12] = {};
  const Tensor full(data, {12}, DType::F32);
  EXPECT_TRUE(collectives::is_own_place(full, full.flat_slice(8, 4), 2));
  EXPECT_FALSE(collectives::is_own_place(full, full.flat_slice(4, 4), 2));
  EXPECT_FALSE(collectives::is_own_place(full.flat_slice(0, 0), full.flat_slice(0, 0), 0)) << "empty";
}

INSTANTIATE_TEST_SUITE_P(Backends, ArgumentsTest, ::testing::ValuesIn(backend_worlds()), name_world);

}  // namespace
}  // namespace shoal::test
