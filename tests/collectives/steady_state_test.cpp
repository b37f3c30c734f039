#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "shoal/collectives/factory.h"
#include "shoal/tests/collectives/collective_rig.h"
#include "shoal/tests/support/counted_calls.h"
#include "shoal/tests/support/rank_threads.h"

// Once two ranks have met, their collectives allocate nothing and take no mutex, on whichever thread.

namespace shoal::test {
namespace {

using collectives::Fold;

/// What a rank does per step: every kind of operation, on two streams that wait for each other.
class Steps {
 public:
  static constexpr std::int64_t kNumel = 1 << 15;  // of a shard; `full` is spread over the workers

  Steps(Device& device, collectives::Communicator& comm)
      : comm_(comm),
        compute_(device.make_stream(StreamRole::Compute, "compute")),
        gather_(device.make_stream(StreamRole::Gather, "gather")),
        published_(device.make_event("published")),
        gathered_(device.make_event("gathered")),
        shard_(device, kNumel, DType::F32),
        part_(device, kNumel, DType::F32),
        full_(device, kNumel * comm.size(), DType::F32),
        other_(device, kNumel * comm.size(), DType::F32),
        window_(comm.expose(shard_.tensor())) {}

  void run(int num_steps) {
    const int next = (comm_.rank() + 1) % comm_.size();
    const int previous = (comm_.rank() + comm_.size() - 1) % comm_.size();
    for (int step = 0; step < num_steps; ++step) {
      comm_.await_readers(*compute_);
      compute_->fill(shard_.tensor().data(), 0, shard_.tensor().num_bytes());
      comm_.publish(*compute_, window_, ++version_);
      compute_->record(*published_);
      gather_->wait(*published_);
      comm_.gather(*gather_, window_, full_.tensor(), version_);
      comm_.all_gather(*gather_, shard_.tensor(), full_.tensor());
      comm_.all_to_all(*gather_, full_.tensor(), other_.tensor());
      comm_.reduce_scatter(*gather_, other_.tensor(), part_.tensor(), Fold::Into);
      comm_.all_reduce(*gather_, part_.tensor(), part_.tensor(), Fold::Replace);
      comm_.broadcast(*gather_, part_.tensor(), 1);
      comm_.send_recv(*gather_, shard_.tensor(), next, part_.tensor(), previous);
      comm_.barrier(*gather_);
      gather_->record(*gathered_);
      compute_->wait(*gathered_);
    }
    gather_->synchronize();
    compute_->synchronize();
  }

 private:
  collectives::Communicator& comm_;
  std::unique_ptr<Stream> compute_;
  std::unique_ptr<Stream> gather_;
  std::unique_ptr<Event> published_;
  std::unique_ptr<Event> gathered_;
  DeviceArray shard_;
  DeviceArray part_;
  DeviceArray full_;
  DeviceArray other_;
  collectives::Window window_;
  std::uint64_t version_ = 0;
};

class CollectiveSteadyState : public ::testing::TestWithParam<int> {};

TEST_P(CollectiveSteadyState, TwoRanks_AllocateNothingAndTakeNoMutex) {
  constexpr int kRanks = 2;
  auto communicators = collectives::make_threads(kRanks);
  RuntimeOptions options;
  options.threads_per_rank = GetParam();
  std::atomic<int> num_warm{0};
  std::atomic<int> num_done{0};
  std::atomic<bool> may_start{false};
  std::atomic<bool> may_end{false};
  run_ranks(kRanks, options, [&](int rank, Device& device) {
    Steps steps(device, *communicators[static_cast<std::size_t>(rank)]);
    steps.run(5);
    ++num_warm;
    if (rank == 0) {
      EXPECT_TRUE(wait_until([&] { return num_warm == kRanks; }));
      const CountedCalls counted;
      may_start = true;
      steps.run(40);
      EXPECT_TRUE(wait_until([&] { return num_done == kRanks - 1; }));
      EXPECT_EQ(CountedCalls::num_allocations(), 0);
      EXPECT_EQ(CountedCalls::num_mutex_locks(), 0);
    } else {
      EXPECT_TRUE(wait_until([&] { return may_start.load(); }));
      steps.run(40);
      ++num_done;
      EXPECT_TRUE(wait_until([&] { return may_end.load(); }));
    }
    may_end = true;
  });
}

INSTANTIATE_TEST_SUITE_P(Threads, CollectiveSteadyState, ::testing::Values(1, 2));

}  // namespace
}  // namespace shoal::test
