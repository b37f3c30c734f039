#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "shoal/runtime/device/process_mark.h"
#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::collectives {

/// Whether a reduction replaces its output or is added to it: out = sum, or out = out + sum (the sum is folded in rank
/// by rank, in rank order, starting from what `out` holds: a left fold).
enum class Fold { Replace, Into };

enum class CollectiveKind : std::uint8_t {
  AllGather,
  ReduceScatter,
  AllReduce,
  Broadcast,
  AllToAll,
  SendRecv,
  Barrier,
  WindowGather,
};
inline constexpr int kNumCollectiveKinds = 8;

/// "all_gather", "reduce_scatter", ...: a literal.
const char* collective_name(CollectiveKind kind);

/// What was issued on this rank since it was made, and the bytes this rank received from or sent to others, whichever
/// is more (all-gather, reduce-scatter: (n-1) shards; all-reduce: 2 (n-1)/n of the data).
struct CollectiveCounters {
  std::array<std::int64_t, kNumCollectiveKinds> calls{};
  std::array<std::int64_t, kNumCollectiveKinds> wire_bytes{};
  std::int64_t total_calls() const;
};

/// A shard that peers may read without this rank's help; from Communicator::expose.
struct Window {
  int id = -1;
};

/// Stream-ordered collectives over a fixed set of ranks, in the vocabulary of NCCL. Each rank's thread holds its own
/// Communicator object; all ranks issue the same operations in the same order, whatever streams they put them on. That
/// order is checked: every operation has a fingerprint (sequence, kind, bytes, dtype), and where two ranks'
/// fingerprints differ, every rank's stream fails with CommFailure naming the first difference.
///
/// Calls return before completion. Buffers belong to the call until the stream passes it; an operation completes on a
/// rank only when no peer can still touch that rank's buffers (window gathers excepted: see await_readers). Float sums
/// are taken in rank order, hence repeatable to the bit, on host backends. 0 elements are legal and still ordered.
/// Errors at the call: InvalidArgument on counts, dtypes, devices or overlap. Errors on the stream: Timeout after the
/// deadline, counted from the last progress of any member and naming the ranks that are missing; Aborted after `abort`;
/// CommFailure.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::string& name() const { return name_; }

  /// full[r * shard.numel + i] = shard_r[i] for every rank r. Any dtype. In place when shard begins at full + rank *
  /// shard.numel; any other overlap is an error.
  void all_gather(Stream& stream, const Tensor& shard, const Tensor& full);

  /// shard[i] = sum over r of full_r[rank * shard.numel + i], or that sum folded into shard. F32, F64, I64.
  /// In place (Replace only) when shard begins at full + rank * shard.numel; any other overlap is an error.
  void reduce_scatter(Stream& stream, const Tensor& full, const Tensor& shard, Fold fold);

  /// out[i] = sum over r of in_r[i], or that sum folded into out. F32, F64, I64. In place (Replace only) when in ==
  /// out.
  void all_reduce(Stream& stream, const Tensor& in, const Tensor& out, Fold fold);

  /// data = data of rank `root`. Any dtype.
  void broadcast(Stream& stream, const Tensor& data, int root);

  /// recv[r * n + i] = send_r[rank * n + i] with n = numel / size. Any dtype; no overlap.
  void all_to_all(Stream& stream, const Tensor& send, const Tensor& recv);

  /// Sends `send` to rank `to` and receives `recv` from rank `from` in one step; an undefined tensor skips that half.
  void send_recv(Stream& stream, const Tensor& send, int to, const Tensor& recv, int from);

  /// Later operations of the stream start after every rank has reached this point.
  void barrier(Stream& stream);

  /// Registers `shard` (the same count and dtype on every rank, registered in the same order) for window gathers. Its
  /// version is 0, and nothing may gather it before `publish`. A collective call on the host: returns when all ranks
  /// have come, and meanwhile works on no stream. So what a peer waits for before it comes must not be left to this
  /// rank's streams: synchronize those first.
  Window expose(const Tensor& shard);

  /// From this point of the stream on, this rank's shard holds `version` (which must grow from call to call). Where
  /// calls on several streams take effect in another order, the highest stays.
  void publish(Stream& stream, Window window, std::uint64_t version);

  /// full[r * n + i] = shard_r[i], each read once that rank has published at least `version`. One-sided: needs nothing
  /// of peers but that. Completes when this rank's copies are done, though peers may still read this rank's shard. full
  /// may contain this rank's shard at its own place.
  void gather(Stream& stream, Window window, const Tensor& full, std::uint64_t version);

  /// Later operations of the stream start when every peer has completed all window gathers issued by this rank so far:
  /// only then may a shard be overwritten. Declares that it reads every exposed shard, in the peers' stead.
  void await_readers(Stream& stream);

  /// Ranks with equal `color` form a new communicator, ordered by (key, rank); collective on the host, like `expose`.
  /// Each of the two can go first, and can fail without the other, but `abort` of this one aborts the new one too.
  virtual std::unique_ptr<Communicator> split(int color, int key, std::string name) = 0;

  /// Every pending and later operation of every member fails with Aborted and `reason`, here and in every communicator
  /// that was or will be split off this one, or off one of those. Callable from any member's thread; returns when no
  /// member's copy loop still runs (bounded by the chunk size; throws Timeout where one does not end). Idempotent: the
  /// first reason stays.
  virtual void abort(const std::string& reason) = 0;

  const CollectiveCounters& counters() const { return counters_; }

 protected:
  Communicator(int rank, int size, std::string name) : rank_(rank), size_(size), name_(std::move(name)) {}

  /// Throws Internal, naming the operation, in a forked child of the process that made this.
  void check_process(const char* operation) const { mark_.check(operation, "communicator", name_); }

  /// The backend's part: arguments are checked and counted, and size() > 0.
  virtual void do_all_gather(Stream& stream, const Tensor& shard, const Tensor& full) = 0;
  virtual void do_reduce_scatter(Stream& stream, const Tensor& full, const Tensor& shard, Fold fold) = 0;
  virtual void do_all_reduce(Stream& stream, const Tensor& in, const Tensor& out, Fold fold) = 0;
  virtual void do_broadcast(Stream& stream, const Tensor& data, int root) = 0;
  virtual void do_all_to_all(Stream& stream, const Tensor& send, const Tensor& recv) = 0;
  virtual void do_send_recv(Stream& stream, const Tensor& send, int to, const Tensor& recv, int from) = 0;
  virtual void do_barrier(Stream& stream) = 0;
  virtual Window do_expose(const Tensor& shard) = 0;
  virtual void do_publish(Stream& stream, Window window, std::uint64_t version) = 0;
  virtual void do_gather(Stream& stream, Window window, const Tensor& full, std::uint64_t version) = 0;
  virtual void do_await_readers(Stream& stream) = 0;

  struct Exposed {
    Tensor shard;
    std::uint64_t version = 0;  // of the last call of publish, which its stream may not have come to
  };
  /// Of a window that there is.
  const Exposed& exposed(Window window) const { return windows_[static_cast<std::size_t>(window.id)]; }

 private:
  void count(CollectiveKind kind, std::int64_t wire_bytes);
  Exposed& find_window(const char* operation, Window window);

  int rank_;
  int size_;
  std::string name_;
  ProcessMark mark_;
  CollectiveCounters counters_;
  std::vector<Exposed> windows_;
};

}  // namespace shoal::collectives
