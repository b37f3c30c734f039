#include "shoal/collectives/threads/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "shoal/collectives/raise_version.h"
#include "shoal/runtime/base/int_math.h"

namespace shoal::threads {
namespace {

constexpr std::int64_t kSliceAlign = 64;  // elements

/// take(peer) for every rank that is_ready and not yet taken, this rank first, then in turn, so that ranks start at
/// different peers. True when all are taken.
template <typename IsReady, typename Take>
bool take_ready(Operation& operation, RankSet& taken, const IsReady& is_ready, const Take& take) {
  bool has_all = true;
  for (int step = 0; step < operation.size(); ++step) {
    const int peer = (operation.rank() + step) % operation.size();
    if (taken.contains(peer)) continue;
    if (!is_ready(peer)) {
      has_all = false;
      continue;
    }
    if (!take(peer)) return false;
    taken.insert(peer);
  }
  return has_all;
}

bool copy_part(Operation& operation, Workers& workers, std::byte* dst, const std::byte* src, std::int64_t bytes) {
  if (bytes == 0 || dst == src) return true;
  const BusyScope scope(operation.member());
  return scope.may_run() && copy_pieces(scope, workers, dst, src, bytes);
}

/// Elements [begin, end) of the sum over what all ranks have posted, each from byte `offset` on.
bool sum_posted(Operation& operation, Workers& workers, collectives::RankOrderSum sum, std::int64_t offset,
                std::int64_t begin, std::int64_t end) {
  if (begin >= end) return true;
  std::array<const void*, kMaxRanks> sources;  // deliberately not set beyond size()
  for (int peer = 0; peer < operation.size(); ++peer) {
    sources[static_cast<std::size_t>(peer)] = operation.entry(peer).send + offset;
  }
  sum.sources = {sources.data(), static_cast<std::size_t>(operation.size())};
  const BusyScope scope(operation.member());
  return scope.may_run() && sum_pieces(scope, workers, sum, begin, end);
}

}  // namespace

bool ExchangeWork::read(Operation& operation, Workers& workers) {
  operation.set_wait({Awaited::Post, operation.sequence()});
  return take_ready(
      operation, taken, [&](int peer) { return operation.has_post(peer); },
      [&](int peer) {
        return copy_part(operation, workers, full + peer * bytes, operation.entry(peer).send + offset, bytes);
      });
}

bool ReduceScatterWork::read(Operation& operation, Workers& workers) {
  if (!operation.has_all_posts()) return false;
  return sum_posted(operation, workers, sum, operation.rank() * numel * dtype_bytes(sum.dtype), 0, numel);
}

bool AllReduceWork::read(Operation& operation, Workers& workers) {
  const std::int64_t slice = round_up(ceil_div(numel, operation.size()), kSliceAlign);
  const auto slice_begin = [&](int of_rank) { return std::min(numel, of_rank * slice); };
  if (!is_reduced) {
    if (!operation.has_all_posts()) return false;
    if (sum.fold == collectives::Fold::Into) return sum_posted(operation, workers, sum, 0, 0, numel);
    const int rank = operation.rank();
    if (!sum_posted(operation, workers, sum, 0, slice_begin(rank), slice_begin(rank + 1))) return false;
    is_reduced = true;
    taken.insert(rank);
    operation.mark_reduced();
  }
  operation.set_wait({Awaited::Reduced, operation.sequence()});
  return take_ready(
      operation, taken,
      [&](int peer) {
        return operation.group().has({Awaited::Reduced, operation.sequence()}, peer);
      },
      [&](int peer) {
        const std::int64_t offset = slice_begin(peer) * dtype_bytes(sum.dtype);
        const std::int64_t bytes = (slice_begin(peer + 1) - slice_begin(peer)) * dtype_bytes(sum.dtype);
        return copy_part(operation, workers, static_cast<std::byte*>(sum.out) + offset,
                         operation.entry(peer).recv + offset, bytes);
      });
}

bool BroadcastWork::read(Operation& operation, Workers& workers) {
  if (operation.rank() == root) return true;
  operation.set_wait({Awaited::Post, operation.sequence(), nullptr, root});
  return operation.has_post(root) && copy_part(operation, workers, data, operation.entry(root).send, bytes);
}

bool SendRecvWork::read(Operation& operation, Workers& workers) {
  for (const int partner : {to, from}) {
    if (partner < 0) continue;
    operation.set_wait({Awaited::Post, operation.sequence(), nullptr, partner});
    if (!operation.has_post(partner)) return false;
  }
  if (to >= 0 && operation.entry(to).receives_from != operation.rank()) {
    operation.fail(ErrorCode::CommFailure,
                   fmt::format("sends to rank {} in {}, which does not receive from it", to, operation.describe()));
    return false;
  }
  if (from < 0) return true;
  const collectives::Fingerprint& sent = operation.entry(from).fingerprint;
  if (sent.detail != operation.rank() || sent.bytes != recv_bytes || sent.dtype != recv_dtype) {
    operation.fail(
        ErrorCode::CommFailure,
        fmt::format("expects {} bytes of {} from rank {} in operation {}, but that rank issued {}", recv_bytes,
                    dtype_name(recv_dtype), from, operation.sequence(), collectives::describe(sent)));
    return false;
  }
  return copy_part(operation, workers, recv, operation.entry(from).send, recv_bytes);
}

bool WindowGatherWork::read(Operation& operation, Workers& workers) {
  const Wait versions{Awaited::Version, version, window};
  operation.set_wait(versions);
  const bool has_all = take_ready(
      operation, taken, [&](int peer) { return operation.group().has(versions, peer); },
      [&](int peer) {
        const std::byte* shard = window->slot(peer).shard;
        std::byte* part = full + peer * bytes;
        if (bytes == 0 || part == shard) return true;
        const BusyScope scope(operation.member());
        // A peer that leaves waits for the loops that it sees, and is seen by the others.
        if (operation.group().rank(peer).has_left.load()) {
          operation.fail(
              ErrorCode::CommFailure,
              fmt::format("cannot read from rank {} in {}: that rank has left (its communicator is destroyed)", peer,
                          operation.describe()));
          return false;
        }
        return scope.may_run() && copy_pieces(scope, workers, part, shard, bytes);
      });
  if (!has_all || !operation.await({Awaited::GatherTurn, index, nullptr, operation.rank()})) return false;
  operation.member().state().num_gathers_done.store(index + 1, std::memory_order_release);
  return true;
}

Progress PublishTask::operator()(Workers& /*workers*/) {
  if (operation_.has_failed()) return operation_.raise_when_quiet();
  collectives::raise_version(window_->slot(operation_.rank()).version, version_);
  operation_.member().advance();
  operation_.finish();
  return Progress::Done;
}

Progress AwaitReadersTask::operator()(Workers& workers) {
  if (operation_.has_failed()) return operation_.raise_when_quiet();
  if (has_awaited()) {
    operation_.finish();
    return Progress::Done;
  }
  operation_.check_stall(workers);
  return operation_.has_failed() ? operation_.raise_when_quiet() : Progress::Pending;
}

bool AwaitReadersTask::has_awaited() {
  for (; next_peer_ < operation_.size(); ++next_peer_) {
    if (next_peer_ == operation_.rank()) continue;
    if (!operation_.await({Awaited::Readers, num_gathers_, nullptr, next_peer_})) return false;
  }
  return true;
}

}  // namespace shoal::threads
