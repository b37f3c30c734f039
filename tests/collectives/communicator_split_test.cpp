#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "shoal/collectives/communicator.h"
#include "shoal/tests/collectives/collective_rig.h"

namespace shoal::test {
namespace {

using collectives::Communicator;
using collectives::Fold;

class SplitTest : public CollectiveTest {};
class SplitPeersTest : public CollectiveTest {};

TEST_P(SplitTest, ByColorInReverseOrder_GroupsRanksAndSumsWithinEach) {
  constexpr int kColors = 3;
  run_collective(GetParam(), {}, [](Rank& r) {
    const int color = r.rank % kColors;
    const auto part = r.comm.split(color, -r.rank, "part " + std::to_string(color));
    int size = 0;
    int later_members = 0;  // ordered before this rank, because keys are negative
    for (int rank = color; rank < r.world_size; rank += kColors) {
      ++size;
      later_members += rank > r.rank ? 1 : 0;
    }
    EXPECT_EQ(part->size(), size);
    EXPECT_EQ(part->rank(), later_members);
    EXPECT_EQ(part->name(), "part " + std::to_string(color));

    DeviceArray x(r.device, 100, DType::I64);
    x.set<std::int64_t>([&](std::int64_t i) { return pattern_integer(1, r.rank, i); });
    part->all_reduce(r.stream, x.tensor(), x.tensor(), Fold::Replace);
    r.stream.synchronize();
    const auto expected = [&](std::int64_t i) {
      std::int64_t sum = 0;
      for (int rank = color; rank < r.world_size; rank += kColors) sum += pattern_integer(1, rank, i);
      return sum;
    };
    EXPECT_EQ(count_wrong<std::int64_t>(x.tensor(), expected), 0);
  });
}

TEST_P(SplitTest, EqualKeys_KeepTheOrderOfRanks) {
  run_collective(GetParam(), {}, [](Rank& r) {
    const auto all = r.comm.split(5, 0, "all");
    EXPECT_EQ(all->rank(), r.rank);
    EXPECT_EQ(all->size(), r.world_size);
    const auto again = all->split(0, r.rank, "again");
    EXPECT_EQ(again->rank(), r.rank);
    again->barrier(r.stream);
    r.stream.synchronize();
  });
}

TEST_P(SplitTest, PartAndWhole_OutliveEachOther) {
  auto communicators = GetParam().backend->make(GetParam().world_size, {});
  run_collective(GetParam(), {}, [&](Rank& r) {
    std::unique_ptr<Communicator>& whole = communicators[static_cast<std::size_t>(r.rank)];
    const auto part = whole->split(0, 0, "part");
    whole->barrier(r.stream);
    r.stream.synchronize();
    whole.reset();
    part->barrier(r.stream);
    r.stream.synchronize();
  });
}

// What a rank waits in may be a part of a part: an abort of the whole reaches it there.
TEST_P(SplitTest, AbortOfTheWhole_FailsEveryPartWithTheReason) {
  const auto errors = collect_errors(GetParam(), {}, [](Rank& r) {
    DeviceArray x(r.device, 5, DType::F32);
    const auto stream = r.device.make_stream(StreamRole::Gather, "inner");
    const auto part = r.comm.split(0, 0, "part");
    const auto inner = part->split(0, 0, "inner");
    if (r.rank == 0) r.comm.abort("the user pressed a key");
    inner->all_reduce(*stream, x.tensor(), x.tensor(), Fold::Replace);
    const auto expect_aborted = [](const std::function<void()>& call) {
      try {
        call();
        ADD_FAILURE() << "nothing was thrown";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::Aborted) << error.what();
        EXPECT_NE(std::string(error.what()).find("aborted by rank 0 of 'world': the user pressed a key"),
                  std::string::npos)
            << error.what();
      }
    };
    expect_aborted([&] { stream->synchronize(); });
    expect_aborted([&] { r.comm.split(0, 0, "too late"); });
    expect_aborted([&] { part->split(0, 0, "too late"); });
  });
  for (const RankError& error : errors) EXPECT_EQ(error.code, std::nullopt) << error.text;
}

TEST_P(SplitTest, AbortOfAPart_LeavesTheWholeAlone) {
  run_collective(GetParam(), {}, [](Rank& r) {
    const auto part = r.comm.split(0, 0, "part");
    part->abort("only this");
    r.comm.barrier(r.stream);
    r.stream.synchronize();
    const auto other = r.device.make_stream(StreamRole::Gather, "of the part");
    part->barrier(*other);
    EXPECT_THROW(other->synchronize(), Error);
  });
}

TEST_P(SplitPeersTest, OneRankDoesNotSplit_TimesOutNamingIt) {
  const int missing = GetParam().world_size - 1;
  std::atomic<int> num_failed{0};
  ManualClock clock;
  RigOptions options;
  options.comm.deadline = std::chrono::milliseconds(500);
  options.comm.clock = clock.reader();
  const auto errors = collect_errors(GetParam(), options, [&](Rank& r) {
    if (r.rank == missing) {
      clock.run_out(options.comm.deadline, r.world_size - 1, num_failed);
      r.comm.barrier(r.stream);
      return;
    }
    try {
      r.comm.split(0, 0, "part");
    } catch (const Error&) {
      ++num_failed;
      throw;
    }
  });
  for (const RankError& error : errors) {
    EXPECT_EQ(error.code, ErrorCode::Timeout) << error.text;
    const std::string part = "in split: rank " + std::to_string(missing) + " has not come";
    EXPECT_NE(error.text.find(part), std::string::npos) << error.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, SplitTest, ::testing::ValuesIn(backend_worlds()), name_world);
INSTANTIATE_TEST_SUITE_P(Backends, SplitPeersTest, ::testing::ValuesIn(backend_worlds(2)), name_world);

}  // namespace
}  // namespace shoal::test
