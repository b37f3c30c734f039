#include "shoal/collectives/factory.h"

#include <algorithm>

#include "shoal/tests/collectives/collective_rig.h"
#include "shoal/tests/support/rank_threads.h"

namespace shoal::test {
namespace {

using collectives::CommOptions;
using collectives::Fold;
using collectives::make_single;
using collectives::make_threads;

TEST(Factory, BackendNames_AreThoseOfTheConformanceTests) {
  std::vector<std::string> tested;
  for (const Backend& backend : backends()) tested.push_back(backend.name);
  EXPECT_EQ(collectives::backend_names(), tested);
}

TEST(Factory, Threads_MakesOneCommunicatorPerRank) {
  const auto communicators = make_threads(3, {}, "shards");
  ASSERT_EQ(communicators.size(), 3U);
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(communicators[static_cast<std::size_t>(rank)]->rank(), rank);
    EXPECT_EQ(communicators[static_cast<std::size_t>(rank)]->size(), 3);
    EXPECT_EQ(communicators[static_cast<std::size_t>(rank)]->name(), "shards");
  }
  EXPECT_EQ(make_single("alone")->name(), "alone");
}

TEST(Factory, Threads_RefusesWhatCannotWork) {
  EXPECT_THROW(make_threads(0), Error);
  EXPECT_THROW(make_threads(1025), Error);
  CommOptions no_deadline;
  no_deadline.deadline = std::chrono::milliseconds(0);
  EXPECT_THROW(make_threads(2, no_deadline), Error);
  CommOptions endless;
  endless.deadline = std::chrono::milliseconds::max();
  EXPECT_THROW(make_threads(2, endless), Error);
  CommOptions no_chunk;
  no_chunk.chunk_bytes = 0;
  EXPECT_THROW(make_threads(2, no_chunk), Error);
}

TEST(Factory, ManyRanks_Work) {
  constexpr int kRanks = 40;
  auto communicators = make_threads(kRanks);
  run_ranks(kRanks, [&](int rank, Device& device) {
    const auto stream = device.make_stream(StreamRole::Reduce, "collectives");
    DeviceArray x(device, 3, DType::I64);
    x.set<std::int64_t>([&](std::int64_t i) { return rank + i; });
    communicators[static_cast<std::size_t>(rank)]->all_reduce(*stream, x.tensor(), x.tensor(), Fold::Replace);
    stream->synchronize();
    const auto expected = [](std::int64_t i) { return std::int64_t{kRanks * (kRanks - 1) / 2 + kRanks * i}; };
    EXPECT_EQ(count_wrong<std::int64_t>(x.tensor(), expected), 0);
  });
}

// A shape-only run does not disturb the numbering that real operations have with the peers.
TEST(Factory, SimDevice_DeclaresOnly) {
  auto communicators = make_threads(2);
  run_ranks(2, [&](int rank, Device& device) {
    auto& comm = *communicators[static_cast<std::size_t>(rank)];
    if (rank == 1) {
      const auto sim = Runtime().open_device(DeviceKind::Sim, rank);
      const auto traced = sim->make_stream(StreamRole::Compute, "trace");
      const Tensor x(nullptr, {10}, DType::F32);
      comm.all_reduce(*traced, x, x, Fold::Replace);
      comm.await_readers(*traced);
      traced->synchronize();
    }
    const auto stream = device.make_stream(StreamRole::Reduce, "collectives");
    comm.barrier(*stream);
    stream->synchronize();
  });
}

// Nobody else could publish it: waiting would be for ever.
TEST(Factory, Single_GatherOfAVersionNotPublished_IsRefused) {
  const auto device = Runtime().open_device(DeviceKind::Host);
  const auto stream = device->make_stream(StreamRole::Gather, "gather");
  const auto comm = make_single();
  DeviceArray shard(*device, 10, DType::F32);
  DeviceArray full(*device, 10, DType::F32);
  const collectives::Window window = comm->expose(shard.tensor());
  comm->publish(*stream, window, 3);
  comm->gather(*stream, window, full.tensor(), 3);
  const std::int64_t num_calls = comm->counters().total_calls();
  try {
    comm->gather(*stream, window, full.tensor(), 4);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    EXPECT_NE(std::string(error.what()).find("version 4 of window 0"), std::string::npos) << error.what();
  }
  EXPECT_EQ(comm->counters().total_calls(), num_calls);
  stream->synchronize();
}

TEST(Factory, PublishThatWasRefused_CanBeTriedAgain) {
  RuntimeOptions options;
  options.check_hazards = true;
  const auto device = Runtime(options).open_device(DeviceKind::Host);
  const auto compute = device->make_stream(StreamRole::Compute, "compute");
  const auto gather = device->make_stream(StreamRole::Gather, "gather");
  const auto written = device->make_event("written");
  const auto comm = make_single();
  DeviceArray shard(*device, 10, DType::F32);
  const collectives::Window window = comm->expose(shard.tensor());
  compute->fill(shard.tensor().data(), 0, shard.tensor().num_bytes());
  compute->record(*written);
  EXPECT_THROW(comm->publish(*gather, window, 1), Error);  // does not wait for the fill
  gather->wait(*written);
  comm->publish(*gather, window, 1);
  gather->synchronize();
}

// All on one thread, so that it is certain what moves when: each try of "peer" takes longer than the stream's deadline,
// and lets rank 1 do one operation more.
TEST(Factory, Threads_ProgressOfAPeer_PutsOffTheDeadlineOfTheStreamToo) {
  constexpr int kOperations = 4;
  constexpr std::chrono::milliseconds kDeadline{10};
  const auto communicators = make_threads(2);
  const auto device = Runtime().open_device(DeviceKind::Host, 0);
  const auto peers_device = Runtime().open_device(DeviceKind::Host, 1);
  const auto stream = device->make_stream(StreamRole::Reduce, "reduce");
  const auto peers_stream = peers_device->make_stream(StreamRole::Reduce, "peer's");
  for (int i = 0; i < kOperations; ++i) communicators[0]->send_recv(*stream, {}, 0, {}, 0);
  communicators[0]->barrier(*stream);
  const auto driver = device->make_stream(StreamRole::Copy, "driver");
  driver->run_polled("peer", {}, {}, [&, num_issued = 0](Workers&) mutable {
    const auto until = std::chrono::steady_clock::now() + kDeadline;
    while (std::chrono::steady_clock::now() <= until) {
    }
    if (num_issued++ < kOperations) {
      communicators[1]->send_recv(*peers_stream, {}, 0, {}, 0);
      return Progress::Pending;
    }
    communicators[1]->barrier(*peers_stream);
    return Progress::Done;
  });
  stream->synchronize(kDeadline);
  peers_stream->synchronize();
}

TEST(Factory, UnorderedUseOfABuffer_IsRefusedByACheckingDevice_AndPeersLearnOfIt) {
  auto communicators = make_threads(2);
  RuntimeOptions options;
  options.check_hazards = true;
  const auto run = [&] {
    run_ranks(2, options, [&](int rank, Device& device) {
      const auto comm = std::move(communicators[static_cast<std::size_t>(rank)]);
      const auto compute = device.make_stream(StreamRole::Compute, "compute");
      const auto gather = device.make_stream(StreamRole::Gather, "gather");
      DeviceArray shard(device, 10, DType::F32);
      DeviceArray full(device, 20, DType::F32);
      if (rank == 0) compute->fill(shard.tensor().data(), 0, shard.tensor().num_bytes());
      comm->all_gather(*gather, shard.tensor(), full.tensor());  // does not wait for the fill
      gather->synchronize();
    });
  };
  try {
    run();
    ADD_FAILURE() << "the missing wait was not found";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Internal) << error.what();
    EXPECT_NE(std::string(error.what()).find("all_gather"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace shoal::test
