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
