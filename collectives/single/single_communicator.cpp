// One rank alone: an operation is at most one copy or one sum, and nothing where the data is in place already.
// Operations are enqueued even then, so that they are ordered, declare their ranges and see an abort.

#include "shoal/collectives/single/single_communicator.h"

#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <utility>

#include "shoal/collectives/argument_checks.h"
#include "shoal/collectives/failure_latch.h"
#include "shoal/collectives/rank_order_sum.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/device.h"
#include "shoal/runtime/device/progress_gate.h"

namespace shoal::single {
namespace {

using collectives::CollectiveKind;
using collectives::Fold;
using collectives::Window;

/// What outlives the communicator in its operations.
struct State {
  collectives::FailureLatch failure;
  std::deque<std::atomic<std::uint64_t>> versions;  // by window; elements stay where they are
};

class SingleCommunicator final : public collectives::Communicator {
 public:
  explicit SingleCommunicator(std::string name) : Communicator(0, 1, std::move(name)) {}

  std::unique_ptr<Communicator> split(int /*color*/, int /*key*/, std::string name) override {
    return make_communicator(std::move(name));
  }

  void abort(const std::string& reason) override {
    state_->failure.set(ErrorCode::Aborted, fmt::format("aborted by rank 0 of '{}': {}", name(), reason), 0);
    process_gate().notify();
  }

 private:
  void do_all_gather(Stream& stream, const Tensor& shard, const Tensor& full) override {
    enqueue_copy(stream, CollectiveKind::AllGather, shard, full);
  }
  void do_reduce_scatter(Stream& stream, const Tensor& full, const Tensor& shard, Fold fold) override {
    enqueue_sum(stream, CollectiveKind::ReduceScatter, full, shard, fold);
  }
  void do_all_reduce(Stream& stream, const Tensor& in, const Tensor& out, Fold fold) override {
    enqueue_sum(stream, CollectiveKind::AllReduce, in, out, fold);
  }
  void do_broadcast(Stream& stream, const Tensor& data, int /*root*/) override {
    enqueue_copy(stream, CollectiveKind::Broadcast, data, data);
  }
  void do_all_to_all(Stream& stream, const Tensor& send, const Tensor& recv) override {
    enqueue_copy(stream, CollectiveKind::AllToAll, send, recv);
  }
  void do_send_recv(Stream& stream, const Tensor& send, int /*to*/, const Tensor& recv, int /*from*/) override {
    if (send.is_defined() != recv.is_defined() || send.num_bytes() != recv.num_bytes() ||
        send.dtype() != recv.dtype()) {
      fail(ErrorCode::InvalidArgument,
           fmt::format(
               "[send_recv] rank 0 of '{}' is alone: it sends {} bytes of {} to itself and receives {} bytes of {}",
               name(), send.num_bytes(), dtype_name(send.dtype()), recv.num_bytes(), dtype_name(recv.dtype())));
    }
    enqueue_copy(stream, CollectiveKind::SendRecv, send, recv);
  }
  void do_barrier(Stream& stream) override { enqueue_copy(stream, CollectiveKind::Barrier, {}, {}); }

  Window do_expose(const Tensor& shard) override {
    state_->versions.emplace_back(0);
    shards_.push_back(shard);
    return Window{static_cast<int>(shards_.size()) - 1};
  }
  void do_publish(Stream& stream, Window window, std::uint64_t version) override {
    std::atomic<std::uint64_t>* current = &state_->versions[static_cast<std::size_t>(window.id)];
    stream.run("publish", {shards_[static_cast<std::size_t>(window.id)]}, {},
               [state = state_, current, version](Workers&) {
                 check(*state, "publish");
                 current->store(version, std::memory_order_release);
                 process_gate().notify();
               });
  }
  void do_gather(Stream& stream, Window window, const Tensor& full, std::uint64_t version) override;
  void do_await_readers(Stream& stream) override {
    stream.run("await_readers", {}, {}, [state = state_](Workers&) { check(*state, "await_readers"); });
  }

  static void check(const State& state, const char* operation) {
    if (state.failure.is_set()) state.failure.raise(operation);
  }

  void enqueue_copy(Stream& stream, CollectiveKind kind, const Tensor& src, const Tensor& dst);
  void enqueue_sum(Stream& stream, CollectiveKind kind, const Tensor& src, const Tensor& dst, Fold fold);

  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::vector<Tensor> shards_;  // by window
};

const char* literal_name(CollectiveKind kind) { return collectives::collective_name(kind).data(); }

void copy_all(const Tensor& src, const Tensor& dst) {
  if (src.num_bytes() == 0 || src.data() == dst.data()) return;
  std::memcpy(dst.data(), src.data(), static_cast<std::size_t>(src.num_bytes()));
}

void SingleCommunicator::enqueue_copy(Stream& stream, CollectiveKind kind, const Tensor& src, const Tensor& dst) {
  const char* name = literal_name(kind);
  const ByteRanges writes = src.data() == dst.data() ? ByteRanges{} : ByteRanges{dst};
  stream.run(name, {src}, writes, [state = state_, name, src, dst](Workers&) {
    check(*state, name);
    copy_all(src, dst);
  });
}

void SingleCommunicator::enqueue_sum(Stream& stream, CollectiveKind kind, const Tensor& src, const Tensor& dst,
                                     Fold fold) {
  if (fold == Fold::Replace) return enqueue_copy(stream, kind, src, dst);
  const char* name = literal_name(kind);
  stream.run(name, {src}, {dst}, [state = state_, name, src, dst, fold](Workers&) {
    check(*state, name);
    const void* const source = src.data();
    collectives::RankOrderSum{{&source, 1}, dst.data(), dst.dtype(), fold}.run(0, dst.numel());
  });
}

void SingleCommunicator::do_gather(Stream& stream, Window window, const Tensor& full, std::uint64_t version) {
  const Tensor shard = shards_[static_cast<std::size_t>(window.id)];
  const std::atomic<std::uint64_t>* current = &state_->versions[static_cast<std::size_t>(window.id)];
  const ByteRanges writes = shard.data() == full.data() ? ByteRanges{} : ByteRanges{full};
  stream.run_polled("gather", {shard}, writes, [state = state_, current, version, shard, full](Workers&) {
    check(*state, "gather");
    if (current->load(std::memory_order_acquire) < version) return Progress::Pending;
    copy_all(shard, full);
    return Progress::Done;
  });
}

}  // namespace

std::unique_ptr<collectives::Communicator> make_communicator(std::string name) {
  return std::make_unique<SingleCommunicator>(std::move(name));
}

}  // namespace shoal::single
