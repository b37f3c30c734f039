// Sums are the left fold in rank order, whatever operation, chunk, worker count and timing: compared bit by bit, on
// values where any other order gives other bits.

#include <bit>
#include <cstring>
#include <vector>

#include "shoal/collectives/communicator.h"
#include "shoal/tests/collectives/collective_rig.h"

namespace shoal::test {
namespace {

using collectives::Fold;

class SumBitsTest : public CollectiveTest {};

/// Every rank's input and what sums of it must be.
struct SumCase {
  SumCase(int world_size, std::int64_t shard);

  std::int64_t shard_numel;
  std::vector<std::vector<float>> inputs;  // by rank
  std::vector<float> start;                // what is folded into
  std::vector<float> sum;
  std::vector<float> folded;
};

/// Magnitudes from 2^-30 to 2^30; odd ranks have nearly the negative of the rank before, so that sums mostly cancel.
float cancelling(int rank, std::uint64_t index) {
  std::uint64_t bits =
      (index + 1) * 0x9e3779b97f4a7c15ULL + static_cast<std::uint64_t>(rank / 2) * 0xd1b54a32d192ed03ULL;
  bits = (bits ^ (bits >> 29)) * 0xbf58476d1ce4e5b9ULL;
  bits ^= bits >> 32;
  const std::uint32_t exponent = 97 + static_cast<std::uint32_t>(bits >> 40) % 61;
  const std::uint32_t mantissa = (static_cast<std::uint32_t>(bits) + static_cast<std::uint32_t>(rank) * 3U) & 0x7fffffU;
  const std::uint32_t sign = rank % 2 == 0 ? 0U : 0x80000000U;
  return std::bit_cast<float>(sign | exponent << 23 | mantissa);
}

SumCase::SumCase(int world_size, std::int64_t shard)
    : shard_numel(shard),
      inputs(static_cast<std::size_t>(world_size)),
      start(static_cast<std::size_t>(shard_numel * world_size)),
      sum(start.size()),
      folded(start.size()) {
  for (int rank = 0; rank < world_size; ++rank) {
    std::vector<float>& input = inputs[static_cast<std::size_t>(rank)];
    input.resize(start.size());
    for (std::size_t i = 0; i < start.size(); ++i) input[i] = cancelling(rank, i);
  }
  for (std::size_t i = 0; i < start.size(); ++i) {
    start[i] = cancelling(world_size, i + 1);
    sum[i] = inputs[0][i];
    folded[i] = start[i] + inputs[0][i];
    for (std::size_t rank = 1; rank < inputs.size(); ++rank) {
      sum[i] += inputs[rank][i];
      folded[i] += inputs[rank][i];
    }
  }
}

std::int64_t count_other_bits(const Tensor& tensor, const std::vector<float>& expected, std::int64_t offset = 0) {
  std::int64_t wrong = 0;
  const auto* got = tensor.as<std::uint32_t>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    wrong += got[i] == std::bit_cast<std::uint32_t>(expected[static_cast<std::size_t>(offset + i)]) ? 0 : 1;
  }
  return wrong;
}

void set_values(const Tensor& tensor, const std::vector<float>& values, std::int64_t offset = 0) {
  std::memcpy(tensor.data(), values.data() + offset, static_cast<std::size_t>(tensor.num_bytes()));
}

void check_sums(Rank& r, const SumCase& sums) {
  const std::int64_t numel = sums.shard_numel * r.world_size;
  const std::int64_t own = sums.shard_numel * r.rank;
  DeviceArray in(r.device, numel, DType::F32);
  DeviceArray shard(r.device, sums.shard_numel, DType::F32);
  DeviceArray folded_shard(r.device, sums.shard_numel, DType::F32);
  DeviceArray gathered(r.device, numel, DType::F32);
  DeviceArray reduced(r.device, numel, DType::F32);
  DeviceArray folded(r.device, numel, DType::F32);
  set_values(in.tensor(), sums.inputs[static_cast<std::size_t>(r.rank)]);
  set_values(folded_shard.tensor(), sums.start, own);
  set_values(folded.tensor(), sums.start);
  r.comm.reduce_scatter(r.stream, in.tensor(), shard.tensor(), Fold::Replace);
  r.comm.reduce_scatter(r.stream, in.tensor(), folded_shard.tensor(), Fold::Into);
  r.comm.all_gather(r.stream, shard.tensor(), gathered.tensor());
  r.comm.all_reduce(r.stream, in.tensor(), reduced.tensor(), Fold::Replace);
  r.comm.all_reduce(r.stream, in.tensor(), folded.tensor(), Fold::Into);
  r.comm.all_reduce(r.stream, in.tensor(), in.tensor(), Fold::Replace);
  r.stream.synchronize();
  EXPECT_EQ(count_other_bits(gathered.tensor(), sums.sum), 0);
  EXPECT_EQ(count_other_bits(folded_shard.tensor(), sums.folded, own), 0);
  EXPECT_EQ(count_other_bits(reduced.tensor(), sums.sum), 0);
  EXPECT_EQ(count_other_bits(folded.tensor(), sums.folded), 0);
  EXPECT_EQ(count_other_bits(in.tensor(), sums.sum), 0);
}

TEST_P(SumBitsTest, OneAndTwoWorkers_GiveTheRankOrderFold) {
  // No multiple of 64; with two ranks, a shard is large enough to be spread over the workers.
  const SumCase sums(GetParam().world_size, GetParam().world_size <= 2 ? 270'001 : 30'001);
  for (const int num_workers : {1, 2}) {
    RigOptions options;
    options.runtime.threads_per_rank = num_workers;
    run_collective(GetParam(), options, [&](Rank& r) { check_sums(r, sums); });
  }
}

TEST_P(SumBitsTest, SmallChunksAndSeededDelays_GiveTheRankOrderFold) {
  const SumCase sums(GetParam().world_size, 10'001);
  for (const std::uint64_t seed : {1, 2}) {
    RigOptions options;
    options.comm.chunk_bytes = 1000;
    options.runtime.execution = HostExecution::ThreadPerStream;
    options.runtime.delay_seed = seed;
    run_collective(GetParam(), options, [&](Rank& r) { check_sums(r, sums); });
  }
}

// A sum that starts from 0 instead of rank 0's value turns -0 into +0.
TEST_P(SumBitsTest, NegativeZeros_StayNegative) {
  run_collective(GetParam(), {}, [](Rank& r) {
    const std::vector<float> zeros(70, -0.0F);
    DeviceArray x(r.device, 70, DType::F32);
    set_values(x.tensor(), zeros);
    r.comm.all_reduce(r.stream, x.tensor(), x.tensor(), Fold::Replace);
    r.stream.synchronize();
    EXPECT_EQ(count_other_bits(x.tensor(), zeros), 0);
  });
}

// The test's own measure: the order must matter for its values.
TEST(SumBits, AnotherOrder_GivesOtherBits) {
  const SumCase sums(4, 1000);
  std::size_t num_other = 0;
  for (std::size_t i = 0; i < sums.sum.size(); ++i) {
    const auto& in = sums.inputs;
    const float pairwise = (in[0][i] + in[2][i]) + (in[1][i] + in[3][i]);
    num_other += pairwise == sums.sum[i] ? 0U : 1U;
  }
  EXPECT_GT(num_other, sums.sum.size() / 4);
}

INSTANTIATE_TEST_SUITE_P(Backends, SumBitsTest, ::testing::ValuesIn(backend_worlds()), name_world);

}  // namespace
}  // namespace shoal::test
