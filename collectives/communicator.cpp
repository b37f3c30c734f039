#include "shoal/collectives/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "shoal/collectives/argument_checks.h"
#include "shoal/runtime/base/error.h"

namespace shoal::collectives {

const char* collective_name(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::AllGather:
      return "all_gather";
    case CollectiveKind::ReduceScatter:
      return "reduce_scatter";
    case CollectiveKind::AllReduce:
      return "all_reduce";
    case CollectiveKind::Broadcast:
      return "broadcast";
    case CollectiveKind::AllToAll:
      return "all_to_all";
    case CollectiveKind::SendRecv:
      return "send_recv";
    case CollectiveKind::Barrier:
      return "barrier";
    case CollectiveKind::WindowGather:
      return "gather";
  }
  return "unknown";
}

std::int64_t CollectiveCounters::total_calls() const {
  return std::accumulate(calls.begin(), calls.end(), std::int64_t{0});
}

void Communicator::count(CollectiveKind kind, std::int64_t wire_bytes) {
  ++counters_.calls[static_cast<std::size_t>(kind)];
  counters_.wire_bytes[static_cast<std::size_t>(kind)] += wire_bytes;
}

Communicator::Exposed& Communicator::find_window(const char* operation, Window window) {
  if (window.id < 0 || static_cast<std::size_t>(window.id) >= windows_.size()) {
    fail(ErrorCode::InvalidArgument, fmt::format("[{}] there is no window {}; {} windows of '{}' have been exposed",
                                                 operation, window.id, windows_.size(), name_));
  }
  return windows_[static_cast<std::size_t>(window.id)];
}

void Communicator::all_gather(Stream& stream, const Tensor& shard, const Tensor& full) {
  check_process("all_gather");
  check_defined("all_gather", "shard", shard);
  check_defined("all_gather", "full", full);
  check_same_dtype("all_gather", "shard", shard, "full", full);
  check_shard_count("all_gather", full, shard, size_);
  if (!is_own_place(full, shard, rank_)) check_disjoint("all_gather", "shard", shard, "full", full);
  count(CollectiveKind::AllGather, (size_ - 1) * shard.num_bytes());
  do_all_gather(stream, shard, full);
}

void Communicator::reduce_scatter(Stream& stream, const Tensor& full, const Tensor& shard, Fold fold) {
  check_process("reduce_scatter");
  check_defined("reduce_scatter", "full", full);
  check_defined("reduce_scatter", "shard", shard);
  check_same_dtype("reduce_scatter", "full", full, "shard", shard);
  check_summable("reduce_scatter", full);
  check_shard_count("reduce_scatter", full, shard, size_);
  if (fold == Fold::Into || !is_own_place(full, shard, rank_)) {
    check_disjoint("reduce_scatter", "full", full, "shard", shard);
  }
  count(CollectiveKind::ReduceScatter, (size_ - 1) * shard.num_bytes());
  do_reduce_scatter(stream, full, shard, fold);
}

void Communicator::all_reduce(Stream& stream, const Tensor& in, const Tensor& out, Fold fold) {
  check_process("all_reduce");
  check_defined("all_reduce", "in", in);
  check_defined("all_reduce", "out", out);
  check_same_dtype("all_reduce", "in", in, "out", out);
  check_summable("all_reduce", in);
  check_same_count("all_reduce", "in", in, "out", out);
  if (fold == Fold::Into || in.data() != out.data()) check_disjoint("all_reduce", "in", in, "out", out);
  count(CollectiveKind::AllReduce, 2 * (size_ - 1) * in.num_bytes() / size_);
  do_all_reduce(stream, in, out, fold);
}

void Communicator::broadcast(Stream& stream, const Tensor& data, int root) {
  check_process("broadcast");
  check_defined("broadcast", "data", data);
  check_rank("broadcast", "root", root, size_);
  count(CollectiveKind::Broadcast, size_ == 1 ? 0 : data.num_bytes());
  do_broadcast(stream, data, root);
}

void Communicator::all_to_all(Stream& stream, const Tensor& send, const Tensor& recv) {
  check_process("all_to_all");
  check_defined("all_to_all", "send", send);
  check_defined("all_to_all", "recv", recv);
  check_same_dtype("all_to_all", "send", send, "recv", recv);
  check_same_count("all_to_all", "send", send, "recv", recv);
  if (send.numel() % size_ != 0) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[all_to_all] send has {} elements, not a multiple of world size {}", send.numel(), size_));
  }
  check_disjoint("all_to_all", "send", send, "recv", recv);
  count(CollectiveKind::AllToAll, (size_ - 1) * (send.num_bytes() / size_));
  do_all_to_all(stream, send, recv);
}

void Communicator::send_recv(Stream& stream, const Tensor& send, int to, const Tensor& recv, int from) {
  check_process("send_recv");
  if (send.is_defined()) check_rank("send_recv", "to", to, size_);
  if (recv.is_defined()) check_rank("send_recv", "from", from, size_);
  check_disjoint("send_recv", "send", send, "recv", recv);
  const std::int64_t sent = to == rank_ ? 0 : send.num_bytes();
  const std::int64_t received = from == rank_ ? 0 : recv.num_bytes();
  count(CollectiveKind::SendRecv, std::max(sent, received));
  do_send_recv(stream, send, to, recv, from);
}

void Communicator::barrier(Stream& stream) {
  check_process("barrier");
  count(CollectiveKind::Barrier, 0);
  do_barrier(stream);
}

Window Communicator::expose(const Tensor& shard) {
  check_process("expose");
  check_defined("expose", "shard", shard);
  const Window window = do_expose(shard);
  windows_.push_back({shard, 0});
  return window;
}

void Communicator::publish(Stream& stream, Window window, std::uint64_t version) {
  check_process("publish");
  Exposed& exposed = find_window("publish", window);
  if (version <= exposed.version) {
    fail(ErrorCode::InvalidArgument, fmt::format("[publish] version {} of window {} does not follow {}; versions grow",
                                                 version, window.id, exposed.version));
  }
  do_publish(stream, window, version);
  exposed.version = version;  // not where that threw: then it can be tried again
}

void Communicator::gather(Stream& stream, Window window, const Tensor& full, std::uint64_t version) {
  check_process("gather");
  const Tensor& shard = find_window("gather", window).shard;
  check_defined("gather", "full", full);
  check_same_dtype("gather", "shard", shard, "full", full);
  check_shard_count("gather", full, shard, size_);
  if (!is_own_place(full, shard, rank_)) check_disjoint("gather", "shard", shard, "full", full);
  if (version == 0) fail(ErrorCode::InvalidArgument, "[gather] version 0 is never published; versions start at 1");
  do_gather(stream, window, full, version);
  count(CollectiveKind::WindowGather, (size_ - 1) * shard.num_bytes());
}

void Communicator::await_readers(Stream& stream) {
  check_process("await_readers");
  do_await_readers(stream);
  // Peers' reads end here, and no operation of this device stands for them: these do, so that a write to a shard that
  // does not wait for this point is found by the happens-before check.
  if (size_ == 1) return;
  for (std::size_t first = 0; first < windows_.size(); first += ByteRanges::kCapacity) {
    ByteRanges reads;
    const std::size_t last = std::min(windows_.size(), first + ByteRanges::kCapacity);
    for (std::size_t window = first; window < last; ++window) reads.add(windows_[window].shard);
    stream.run("peers_read", reads, {}, [](Workers&) {});
  }
}

}  // namespace shoal::collectives
