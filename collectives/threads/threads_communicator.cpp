#include "shoal/collectives/threads/threads_communicator.h"

#include <fmt/format.h>

#include <utility>

#include "shoal/collectives/argument_checks.h"
#include "shoal/collectives/threads/host_wait.h"
#include "shoal/collectives/threads/operations.h"
#include "shoal/runtime/base/deadline.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/device.h"

namespace shoal::threads {
namespace {

using collectives::CollectiveKind;
using collectives::Fingerprint;
using collectives::Fold;
using collectives::Window;

/// What is written of `full` when a rank's own part may already be in place.
ByteRanges written_parts(const Tensor& full, const Tensor& shard, int rank) {
  if (!collectives::is_own_place(full, shard, rank)) return {full};
  const std::int64_t before = rank * shard.num_bytes();
  const std::int64_t after = full.num_bytes() - before - shard.num_bytes();
  return {{full.data(), before}, {full.as<std::byte>() + before + shard.num_bytes(), after}};
}

/// False on the sim device, where only declarations count. Throws InvalidArgument where peers cannot read the memory.
bool runs_here(const Stream& stream, const char* operation) {
  if (stream.device().kind() == DeviceKind::Cuda) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[{}] stream '{}' is on a cuda device; the threads backend needs host memory", operation,
                     stream.name()));
  }
  return stream.device().kind() == DeviceKind::Host;
}

void declare_only(Stream& stream, const char* operation, const ByteRanges& reads, const ByteRanges& writes) {
  stream.run_polled(operation, reads, writes, [](Workers&) { return Progress::Done; });
}

}  // namespace

std::vector<std::unique_ptr<collectives::Communicator>> make_communicators(int world_size,
                                                                           const collectives::CommOptions& options,
                                                                           const std::string& name) {
  if (world_size < 1 || world_size > kMaxRanks) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[make_threads] world size {}; a process can have 1 to {} ranks", world_size, kMaxRanks));
  }
  if (options.deadline.count() <= 0 || options.deadline > kLongestDeadline || options.chunk_bytes <= 0) {
    fail(
        ErrorCode::InvalidArgument,
        fmt::format("[make_threads] deadline {} ms, chunk {} bytes; both must be positive, and the deadline at most {} "
                    "ms (a year)",
                    options.deadline.count(), options.chunk_bytes, kLongestDeadline.count()));
  }
  const auto group = std::make_shared<ThreadGroup>(world_size, options, name);
  std::vector<std::unique_ptr<collectives::Communicator>> communicators;
  for (int rank = 0; rank < world_size; ++rank) {
    communicators.push_back(std::make_unique<ThreadsCommunicator>(group, rank, name));
  }
  return communicators;
}

ThreadsCommunicator::ThreadsCommunicator(std::shared_ptr<ThreadGroup> group, int rank, std::string name)
    : Communicator(rank, group->size(), std::move(name)), member_(std::make_shared<Member>(std::move(group), rank)) {}

ThreadsCommunicator::~ThreadsCommunicator() {
  RankState& state = member_->state();
  state.num_issued = num_issued_;
  state.num_gathers_issued = num_gathers_;
  state.has_left.store(true);  // sequentially consistent, against the busy flags of window gathers
  member_->advance();
  if (windows_.empty()) return;
  // Loops that begin from here on find the flag; those that run read what goes after this.
  ThreadGroup& group = member_->group();
  if (await_running_loops_on_host(group)) return;
  group.fail(ErrorCode::CommFailure,
             fmt::format("rank {} of '{}' leaves, and a peer has still not ended reading after {} ms", this->rank(),
                         group.name(), group.options().deadline.count()),
             this->rank());
  await_quiet_on_host(group);
}

template <typename Work>
void ThreadsCommunicator::enqueue(Stream& stream, const Call& call, Work work) {
  const char* name = collectives::collective_name(call.fingerprint.kind);
  if (!runs_here(stream, name)) return declare_only(stream, name, call.reads, call.writes);
  const Post post{num_issued_++, call.fingerprint, static_cast<const std::byte*>(call.send),
                  static_cast<const std::byte*>(call.recv), call.receives_from};
  stream.run_polled(name, call.reads, call.writes, NumberedTask<Work>(member_, post, work));
}

void ThreadsCommunicator::do_all_gather(Stream& stream, const Tensor& shard, const Tensor& full) {
  Call call{
      {shard}, written_parts(full, shard, rank()), {shard.num_bytes(), 0, CollectiveKind::AllGather, shard.dtype()}};
  call.send = shard.data();
  enqueue(stream, call, ExchangeWork{full.as<std::byte>(), shard.num_bytes(), 0});
}

void ThreadsCommunicator::do_reduce_scatter(Stream& stream, const Tensor& full, const Tensor& shard, Fold fold) {
  Call call{{full}, {shard}, {shard.num_bytes(), static_cast<int>(fold), CollectiveKind::ReduceScatter, full.dtype()}};
  call.send = full.data();
  enqueue(stream, call, ReduceScatterWork{{{}, shard.data(), shard.dtype(), fold}, shard.numel()});
}

void ThreadsCommunicator::do_all_reduce(Stream& stream, const Tensor& in, const Tensor& out, Fold fold) {
  Call call{{in}, {out}, {in.num_bytes(), static_cast<int>(fold), CollectiveKind::AllReduce, in.dtype()}};
  call.send = in.data();
  call.recv = out.data();
  enqueue(stream, call, AllReduceWork{{{}, out.data(), out.dtype(), fold}, in.numel()});
}

void ThreadsCommunicator::do_broadcast(Stream& stream, const Tensor& data, int root) {
  Call call{{}, {}, {data.num_bytes(), root, CollectiveKind::Broadcast, data.dtype()}};
  (rank() == root ? call.reads : call.writes).add(data);
  call.send = data.data();
  enqueue(stream, call, BroadcastWork{data.as<std::byte>(), data.num_bytes(), root});
}

void ThreadsCommunicator::do_all_to_all(Stream& stream, const Tensor& send, const Tensor& recv) {
  const std::int64_t bytes = send.num_bytes() / size();
  Call call{{send}, {recv}, {bytes, 0, CollectiveKind::AllToAll, send.dtype()}};
  call.send = send.data();
  enqueue(stream, call, ExchangeWork{recv.as<std::byte>(), bytes, rank() * bytes});
}

void ThreadsCommunicator::do_send_recv(Stream& stream, const Tensor& send, int to, const Tensor& recv, int from) {
  const int receiver = send.is_defined() ? to : -1;
  const int sender = recv.is_defined() ? from : -1;
  Call call{{send}, {recv}, {send.num_bytes(), receiver, CollectiveKind::SendRecv, send.dtype()}};
  call.send = send.data();
  call.receives_from = sender;
  enqueue(stream, call, SendRecvWork{recv.as<std::byte>(), recv.num_bytes(), recv.dtype(), receiver, sender});
}

void ThreadsCommunicator::do_barrier(Stream& stream) {
  enqueue(stream, Call{{}, {}, {0, 0, CollectiveKind::Barrier, DType::U8}}, BarrierWork{});
}

Window ThreadsCommunicator::do_expose(const Tensor& shard) {
  check_not_failed("expose");
  WindowRecord& record = member_->group().meetings().join_window(rank(), windows_.size(), shard);
  windows_.push_back(&record);
  member_->advance();
  await_on_host(*member_, "expose", [&](int peer) { return record.slot(peer).has_come.load(); });
  const WindowSlot& first = record.slot(0);
  for (int peer = 1; peer < size(); ++peer) {
    const WindowSlot& slot = record.slot(peer);
    if (slot.numel == first.numel && slot.dtype == first.dtype) continue;
    member_->group().fail(
        ErrorCode::CommFailure,
        fmt::format("window {} of '{}' differs between ranks: rank 0 exposes {} elements of {}, rank {} "
                    "{} of {}",
                    record.id, name(), first.numel, dtype_name(first.dtype), peer, slot.numel, dtype_name(slot.dtype)),
        peer);
    member_->group().failure().raise("expose");
  }
  return Window{record.id};
}

void ThreadsCommunicator::do_publish(Stream& stream, Window window, std::uint64_t version) {
  WindowRecord* record = windows_[static_cast<std::size_t>(window.id)];
  const WindowSlot& own = record->slot(rank());
  const ByteRanges reads{{own.shard, own.numel * dtype_bytes(own.dtype)}};
  if (!runs_here(stream, "publish")) return declare_only(stream, "publish", reads, {});
  stream.run_polled("publish", reads, {}, PublishTask(member_, record, version));
}

void ThreadsCommunicator::do_gather(Stream& stream, Window window, const Tensor& full, std::uint64_t version) {
  const WindowRecord* record = windows_[static_cast<std::size_t>(window.id)];
  const WindowSlot& own = record->slot(rank());
  const Tensor shard(const_cast<std::byte*>(own.shard), Shape{own.numel}, own.dtype);
  const Call call{{shard},
                  written_parts(full, shard, rank()),
                  {shard.num_bytes(), window.id, CollectiveKind::WindowGather, shard.dtype()}};
  const std::uint64_t index = num_gathers_;
  if (runs_here(stream, "gather")) ++num_gathers_;
  enqueue(stream, call, WindowGatherWork{record, full.as<std::byte>(), shard.num_bytes(), version, index});
}

void ThreadsCommunicator::do_await_readers(Stream& stream) {
  if (!runs_here(stream, "await_readers")) return declare_only(stream, "await_readers", {}, {});
  stream.run_polled("await_readers", {}, {}, AwaitReadersTask(member_, num_gathers_));
}

std::unique_ptr<collectives::Communicator> ThreadsCommunicator::split(int color, int key, std::string name) {
  check_process("split");
  check_not_failed("split");
  ThreadGroup& group = member_->group();
  SplitRecord& record = group.meetings().join_split(rank(), num_splits_++, {color, key, name}, group);
  member_->advance();
  await_on_host(*member_, "split", [&](int peer) { return record.slot(peer).has_come.load(); });
  SplitSlot& own = record.slot(rank());
  return std::make_unique<ThreadsCommunicator>(std::move(own.child), own.child_rank, std::move(name));
}

// Before this rank comes: once all have come, a meeting has succeeded, whatever happens next.
void ThreadsCommunicator::check_not_failed(const char* operation) const {
  const collectives::FailureLatch& failure = member_->group().failure();
  if (failure.is_set()) failure.raise(operation);
}

void ThreadsCommunicator::abort(const std::string& reason) {
  check_process("abort");
  ThreadGroup& group = member_->group();
  group.abort(fmt::format("aborted by rank {} of '{}': {}", rank(), group.name(), reason), rank());
  if (await_all_quiet_on_host(group)) return;
  throw Error(ErrorCode::Timeout,
              fmt::format("[abort] a member of '{}', or of what was split off it, does not end its copy", group.name()),
              rank());
}

}  // namespace shoal::threads
