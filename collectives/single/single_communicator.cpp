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
#include "shoal/collectives/raise_version.h"
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
  explicit State(std::shared_ptr<const State> parent) : parent(std::move(parent)) {}

  std::shared_ptr<const State> parent;  // of what this was split off, whose abort holds here too
  collectives::FailureLatch failure;
  std::deque<std::atomic<std::uint64_t>> versions;  // by window; elements stay where they are
};

class SingleCommunicator final : public collectives::Communicator {
 public:
  SingleCommunicator(std::string name, std::shared_ptr<const State> parent)
      : Communicator(0, 1, std::move(name)), state_(std::make_shared<State>(std::move(parent))) {}

  std::unique_ptr<Communicator> split(int /*color*/, int /*key*/, std::string name) override {
    check_process("split");
    check(*state_, "split");
    return std::make_unique<SingleCommunicator>(std::move(name), state_);
  }

  void abort(const std::string& reason) override {
    check_process("abort");
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

  Window do_expose(const Tensor& /*shard*/) override {
    state_->versions.emplace_back(0);
    return Window{static_cast<int>(state_->versions.size()) - 1};
  }
  void do_publish(Stream& stream, Window window, std::uint64_t version) override {
    std::atomic<std::uint64_t>* current = &state_->versions[static_cast<std::size_t>(window.id)];
    stream.run("publish", {exposed(window).shard}, {}, [state = state_, current, version](Workers&) {
      check(*state, "publish");
      collectives::raise_version(*current, version);
      process_gate().notify();
    });
  }
  void do_gather(Stream& stream, Window window, const Tensor& full, std::uint64_t version) override;
  void do_await_readers(Stream& stream) override {
    stream.run("await_readers", {}, {}, [state = state_](Workers&) { check(*state, "await_readers"); });
  }

  static void check(const State& state, const char* operation) {
    for (const State* at = &state; at != nullptr; at = at->parent.get()) {
      if (at->failure.is_set()) at->failure.raise(operation);
    }
  }

  void enqueue_copy(Stream& stream, CollectiveKind kind, const Tensor& src, const Tensor& dst);
  void enqueue_sum(Stream& stream, CollectiveKind kind, const Tensor& src, const Tensor& dst, Fold fold);

  std::shared_ptr<State> state_;
};

void copy_all(const Tensor& src, const Tensor& dst) {
  if (src.num_bytes() == 0 || src.data() == dst.data()) return;
  std::memcpy(dst.data(), src.data(), static_cast<std::size_t>(src.num_bytes()));
}

void SingleCommunicator::enqueue_copy(Stream& stream, CollectiveKind kind, const Tensor& src, const Tensor& dst) {
  const char* name = collectives::collective_name(kind);
  const ByteRanges writes = src.data() == dst.data() ? ByteRanges{} : ByteRanges{dst};
  stream.run(name, {src}, writes, [state = state_, name, src, dst](Workers&) {
    check(*state, name);
    copy_all(src, dst);
  });
}

void SingleCommunicator::enqueue_sum(Stream& stream, CollectiveKind kind, const Tensor& src, const Tensor& dst,
                                     Fold fold) {
  if (fold == Fold::Replace) return enqueue_copy(stream, kind, src, dst);
  const char* name = collectives::collective_name(kind);
  stream.run(name, {src}, {dst}, [state = state_, name, src, dst, fold](Workers&) {
    check(*state, name);
    const void* const source = src.data();
    collectives::RankOrderSum{{&source, 1}, dst.data(), dst.dtype(), fold}.run(0, dst.numel());
  });
}

void SingleCommunicator::do_gather(Stream& stream, Window window, const Tensor& full, std::uint64_t version) {
  const auto& [shard, published] = exposed(window);
  if (version > published) {
    fail(
        ErrorCode::InvalidArgument,
        fmt::format("[gather] version {} of window {} of '{}' has not been published, {} is the last; rank 0 is alone, "
                    "so publish it before",
                    version, window.id, name(), published));
  }
  const std::atomic<std::uint64_t>* current = &state_->versions[static_cast<std::size_t>(window.id)];
  const ByteRanges writes = shard.data() == full.data() ? ByteRanges{} : ByteRanges{full};
  stream.run_polled("gather", {shard}, writes, [state = state_, current, version, shard = shard, full](Workers&) {
    check(*state, "gather");
    if (current->load(std::memory_order_acquire) < version) return Progress::Pending;
    copy_all(shard, full);
    return Progress::Done;
  });
}

}  // namespace

std::unique_ptr<collectives::Communicator> make_communicator(std::string name) {
  return std::make_unique<SingleCommunicator>(std::move(name), nullptr);
}

}  // namespace shoal::single
