// Every operation on every backend, world size, dtype and size, with inputs whose sums are exact: wrong elements are
// counted.

#include "shoal/collectives/communicator.h"

#include <atomic>

#include "shoal/tests/collectives/collective_rig.h"

namespace shoal::test {
namespace {

using collectives::CollectiveKind;
using collectives::Fold;

class PartnersTest : public CollectiveTest {};

constexpr DType kAllDTypes[] = {DType::F32, DType::BF16, DType::F16, DType::F64, DType::I64, DType::I32, DType::U8};
// Of one rank's part; with the chunk below, the last ones take several chunks.
constexpr std::int64_t kSizes[] = {0, 1, 3, 64, 65, 257, 1000};
constexpr std::int64_t kChunkBytes = 512;

RigOptions small_chunks() {
  RigOptions options;
  options.comm.chunk_bytes = kChunkBytes;
  options.runtime.check_hazards = true;
  return options;
}

std::string label(DType dtype, std::int64_t numel) {
  return std::string(dtype_name(dtype)) + " x " + std::to_string(numel);
}

TEST_P(CollectiveTest, AllGather_EveryDTypeAndSize_HasNoWrongElement) {
  run_collective(GetParam(), small_chunks(), [](Rank& r) {
    for (const DType dtype : kAllDTypes) {
      for (const std::int64_t numel : kSizes) {
        const std::int64_t bytes = numel * dtype_bytes(dtype);
        DeviceArray shard(r.device, numel, dtype);
        DeviceArray full(r.device, numel * r.world_size, dtype);
        shard.set_bytes([&](std::int64_t i) { return pattern_byte(1, r.rank, i); });
        r.comm.all_gather(r.stream, shard.tensor(), full.tensor());
        r.stream.synchronize();
        const auto expected = [&](std::int64_t i) { return pattern_byte(1, static_cast<int>(i / bytes), i % bytes); };
        EXPECT_EQ(count_wrong_bytes(full.tensor(), expected), 0) << label(dtype, numel);
        EXPECT_TRUE(full.guards_are_intact()) << label(dtype, numel);
      }
    }
  });
}

TEST_P(CollectiveTest, AllGather_InPlace_KeepsOwnShard) {
  run_collective(GetParam(), small_chunks(), [](Rank& r) {
    for (const std::int64_t numel : kSizes) {
      DeviceArray full(r.device, numel * r.world_size, DType::I32);
      const Tensor own = full.tensor().flat_slice(r.rank * numel, numel);
      for (std::int64_t i = 0; i < numel; ++i) own.as<std::int32_t>()[i] = pattern_integer(2, r.rank, i);
      r.comm.all_gather(r.stream, own, full.tensor());
      r.stream.synchronize();
      const auto expected = [&](std::int64_t i) { return pattern_integer(2, static_cast<int>(i / numel), i % numel); };
      EXPECT_EQ(count_wrong<std::int32_t>(full.tensor(), expected), 0) << numel;
      EXPECT_TRUE(full.guards_are_intact()) << numel;
    }
  });
}

enum class Form { Replace, Into, InPlace };

template <typename T>
T exact(std::uint64_t seed, int rank, std::int64_t index) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(pattern_integer(seed, rank, index)) * T{0.125};
  return static_cast<T>(pattern_integer(seed, rank, index));
}

template <typename T>
T exact_sum(std::uint64_t seed, int world_size, std::int64_t index) {
  T sum{};
  for (int rank = 0; rank < world_size; ++rank) sum += exact<T>(seed, rank, index);
  return sum;
}

template <typename T>
void check_reduce_scatter(Rank& r, DType dtype, std::int64_t numel, Form form) {
  DeviceArray full(r.device, numel * r.world_size, dtype);
  DeviceArray separate(r.device, numel, dtype);
  full.set<T>([&](std::int64_t i) { return exact<T>(3, r.rank, i); });
  separate.set<T>([&](std::int64_t i) { return exact<T>(4, r.rank, i); });
  const Tensor shard = form == Form::InPlace ? full.tensor().flat_slice(r.rank * numel, numel) : separate.tensor();
  r.comm.reduce_scatter(r.stream, full.tensor(), shard, form == Form::Into ? Fold::Into : Fold::Replace);
  r.stream.synchronize();
  const auto expected = [&](std::int64_t i) {
    const T before = form == Form::Into ? exact<T>(4, r.rank, i) : T{};
    return before + exact_sum<T>(3, r.world_size, r.rank * numel + i);
  };
  EXPECT_EQ(count_wrong<T>(shard, expected), 0) << label(dtype, numel) << " form " << static_cast<int>(form);
  EXPECT_TRUE(full.guards_are_intact() && separate.guards_are_intact()) << label(dtype, numel);
  if (form == Form::InPlace) return;
  const auto unchanged = [&](std::int64_t i) { return exact<T>(3, r.rank, i); };
  EXPECT_EQ(count_wrong<T>(full.tensor(), unchanged), 0) << label(dtype, numel);
}

template <typename T>
void check_all_reduce(Rank& r, DType dtype, std::int64_t numel, Form form) {
  DeviceArray in(r.device, numel, dtype);
  DeviceArray separate(r.device, numel, dtype);
  in.set<T>([&](std::int64_t i) { return exact<T>(5, r.rank, i); });
  separate.set<T>([&](std::int64_t i) { return exact<T>(6, r.rank, i); });
  const Tensor out = form == Form::InPlace ? in.tensor() : separate.tensor();
  r.comm.all_reduce(r.stream, in.tensor(), out, form == Form::Into ? Fold::Into : Fold::Replace);
  r.stream.synchronize();
  const auto expected = [&](std::int64_t i) {
    const T before = form == Form::Into ? exact<T>(6, r.rank, i) : T{};
    return before + exact_sum<T>(5, r.world_size, i);
  };
  EXPECT_EQ(count_wrong<T>(out, expected), 0) << label(dtype, numel) << " form " << static_cast<int>(form);
  EXPECT_TRUE(in.guards_are_intact() && separate.guards_are_intact()) << label(dtype, numel);
}

TEST_P(CollectiveTest, ReduceScatter_EveryForm_HasNoWrongElement) {
  run_collective(GetParam(), small_chunks(), [](Rank& r) {
    for (const Form form : {Form::Replace, Form::Into, Form::InPlace}) {
      for (const std::int64_t numel : kSizes) {
        check_reduce_scatter<float>(r, DType::F32, numel, form);
        check_reduce_scatter<double>(r, DType::F64, numel, form);
        check_reduce_scatter<std::int64_t>(r, DType::I64, numel, form);
      }
    }
  });
}

TEST_P(CollectiveTest, AllReduce_EveryForm_HasNoWrongElement) {
  run_collective(GetParam(), small_chunks(), [](Rank& r) {
    for (const Form form : {Form::Replace, Form::Into, Form::InPlace}) {
      for (const std::int64_t numel : {0, 1, 3, 63, 64, 65, 1000, 4099}) {
        check_all_reduce<float>(r, DType::F32, numel, form);
        check_all_reduce<double>(r, DType::F64, numel, form);
        check_all_reduce<std::int64_t>(r, DType::I64, numel, form);
      }
    }
  });
}

TEST_P(CollectiveTest, Broadcast_FromEveryRoot_HasNoWrongElement) {
  run_collective(GetParam(), small_chunks(), [](Rank& r) {
    for (int root = 0; root < r.world_size; ++root) {
      for (const DType dtype : kAllDTypes) {
        for (const std::int64_t numel : kSizes) {
          DeviceArray data(r.device, numel, dtype);
          data.set_bytes([&](std::int64_t i) { return pattern_byte(7, r.rank, i); });
          r.comm.broadcast(r.stream, data.tensor(), root);
          r.stream.synchronize();
          const auto expected = [&](std::int64_t i) { return pattern_byte(7, root, i); };
          EXPECT_EQ(count_wrong_bytes(data.tensor(), expected), 0) << label(dtype, numel) << " root " << root;
          EXPECT_TRUE(data.guards_are_intact());
        }
      }
    }
  });
}

TEST_P(CollectiveTest, AllToAll_EveryDTypeAndSize_HasNoWrongElement) {
  run_collective(GetParam(), small_chunks(), [](Rank& r) {
    for (const DType dtype : kAllDTypes) {
      for (const std::int64_t numel : kSizes) {
        const std::int64_t bytes = numel * dtype_bytes(dtype);
        DeviceArray send(r.device, numel * r.world_size, dtype);
        DeviceArray recv(r.device, numel * r.world_size, dtype);
        send.set_bytes([&](std::int64_t i) { return pattern_byte(8, r.rank, i); });
        r.comm.all_to_all(r.stream, send.tensor(), recv.tensor());
        r.stream.synchronize();
        const auto expected = [&](std::int64_t i) {
          return pattern_byte(8, static_cast<int>(i / bytes), r.rank * bytes + i % bytes);
        };
        EXPECT_EQ(count_wrong_bytes(recv.tensor(), expected), 0) << label(dtype, numel);
        EXPECT_TRUE(recv.guards_are_intact());
      }
    }
  });
}

TEST_P(CollectiveTest, SendRecv_AroundTheRing_HasNoWrongElement) {
  run_collective(GetParam(), small_chunks(), [](Rank& r) {
    const int next = (r.rank + 1) % r.world_size;
    const int previous = (r.rank + r.world_size - 1) % r.world_size;
    for (const DType dtype : kAllDTypes) {
      for (const std::int64_t numel : kSizes) {
        DeviceArray send(r.device, numel, dtype);
        DeviceArray recv(r.device, numel, dtype);
        send.set_bytes([&](std::int64_t i) { return pattern_byte(9, r.rank, i); });
        r.comm.send_recv(r.stream, send.tensor(), next, recv.tensor(), previous);
        r.stream.synchronize();
        const auto expected = [&](std::int64_t i) { return pattern_byte(9, previous, i); };
        EXPECT_EQ(count_wrong_bytes(recv.tensor(), expected), 0) << label(dtype, numel);
        EXPECT_TRUE(recv.guards_are_intact());
      }
    }
  });
}

// Rank 0 sends 10 + p elements to each rank p in turn; everybody takes part in every step, most with neither half.
TEST_P(PartnersTest, SendRecv_OneHalfPerRank_DeliversToTheReceiver) {
  run_collective(GetParam(), small_chunks(), [](Rank& r) {
    for (int receiver = 1; receiver < r.world_size; ++receiver) {
      DeviceArray data(r.device, 10 + receiver, DType::I32);
      data.set<std::int32_t>([&](std::int64_t i) { return pattern_integer(10, r.rank + receiver, i); });
      const Tensor none;
      if (r.rank == 0) {
        r.comm.send_recv(r.stream, data.tensor(), receiver, none, -1);
      } else {
        r.comm.send_recv(r.stream, none, -1, r.rank == receiver ? data.tensor() : none, 0);
      }
      r.stream.synchronize();
      const int source = r.rank == receiver ? 0 : r.rank;
      const auto expected = [&](std::int64_t i) { return pattern_integer(10, source + receiver, i); };
      EXPECT_EQ(count_wrong<std::int32_t>(data.tensor(), expected), 0) << receiver;
    }
  });
}

TEST_P(CollectiveTest, Barrier_IsPassedOnlyWhenAllHaveCome) {
  std::atomic<int> num_come{0};
  run_collective(GetParam(), small_chunks(), [&](Rank& r) {
    for (int round = 1; round <= 20; ++round) {
      r.stream.run("come", {}, {}, [&](Workers&) { ++num_come; });
      r.comm.barrier(r.stream);
      r.stream.run("check", {}, {},
                   [&num_come, &r, round](Workers&) { EXPECT_GE(num_come.load(), round * r.world_size); });
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Backends, CollectiveTest, ::testing::ValuesIn(backend_worlds()), name_world);
INSTANTIATE_TEST_SUITE_P(Backends, PartnersTest, ::testing::ValuesIn(backend_worlds(2)), name_world);

}  // namespace
}  // namespace shoal::test
