#pragma once

#include <cstddef>
#include <cstdint>

#include "shoal/collectives/rank_order_sum.h"
#include "shoal/collectives/threads/operation.h"

namespace shoal::threads {

// What a rank does in each kind of operation, as the `Work` of a NumberedTask. `bytes` is always that of one rank's
// part.

/// Part p of `full` = the bytes from `offset` on of what rank p sends, taken as soon as p has posted: 0 for an
/// all_gather; for an all_to_all, this rank's part.
struct ExchangeWork {
  std::byte* full;
  std::int64_t bytes;
  std::int64_t offset;
  RankSet taken{};

  bool read(Operation& operation, Workers& workers);
};

/// `sum.sources` is filled here, from what the ranks post.
struct ReduceScatterWork {
  collectives::RankOrderSum sum;
  std::int64_t numel;

  bool read(Operation& operation, Workers& workers);
};

/// Each rank sums one slice, then copies the other slices from the ranks that own them. A sum that is folded into `out`
/// starts from each rank's own values, which nobody else has: then every rank sums everything.
struct AllReduceWork {
  collectives::RankOrderSum sum;
  std::int64_t numel;
  RankSet taken{};
  bool is_reduced = false;

  bool read(Operation& operation, Workers& workers);
};

struct BroadcastWork {
  std::byte* data;
  std::int64_t bytes;
  int root;

  bool read(Operation& operation, Workers& workers);
  bool is_released(Operation& operation) {
    return operation.rank() != root || operation.await({Awaited::Done, operation.sequence()});
  }
};

/// `to` and `from` are -1 for the half that is left out.
struct SendRecvWork {
  std::byte* recv;
  std::int64_t recv_bytes;
  DType recv_dtype;
  int to;
  int from;

  bool read(Operation& operation, Workers& workers);
  bool is_released(Operation& operation) {
    return to < 0 || operation.await({Awaited::Done, operation.sequence(), nullptr, to});
  }
};

struct BarrierWork {
  bool read(Operation& operation, Workers& /*workers*/) { return operation.has_all_posts(); }
  bool is_released(Operation& /*operation*/) { return true; }
};

/// One-sided: looks at versions, not at posts.
struct WindowGatherWork {
  const WindowRecord* window;
  std::byte* full;
  std::int64_t bytes;
  std::uint64_t version;
  std::uint64_t index;  // among this rank's window gathers
  RankSet taken{};

  bool read(Operation& operation, Workers& workers);
  bool is_released(Operation& /*operation*/) { return true; }
};

/// The polled task of `publish`.
class PublishTask {
 public:
  PublishTask(std::shared_ptr<Member> member, WindowRecord* window, std::uint64_t version)
      : operation_(std::move(member), "publish"), window_(window), version_(version) {}
  Progress operator()(Workers& workers);

 private:
  Operation operation_;
  WindowRecord* window_;
  std::uint64_t version_;
};

/// The polled task of `await_readers`: ends when every peer has ended its first `num_gathers` window gathers.
class AwaitReadersTask {
 public:
  AwaitReadersTask(std::shared_ptr<Member> member, std::uint64_t num_gathers)
      : operation_(std::move(member), "await_readers"), num_gathers_(num_gathers) {}
  Progress operator()(Workers& workers);

 private:
  bool has_awaited();

  Operation operation_;
  std::uint64_t num_gathers_;
  int next_peer_ = 0;
};

}  // namespace shoal::threads
