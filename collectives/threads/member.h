#pragma once

#include <cstdint>
#include <memory>

#include "shoal/collectives/rank_order_sum.h"
#include "shoal/collectives/threads/thread_group.h"
#include "shoal/runtime/device/task.h"

namespace shoal::threads {

/// One rank's hold on its group, shared by its communicator and by its operations in flight, so that the group outlives
/// both.
class Member {
 public:
  Member(std::shared_ptr<ThreadGroup> group, int rank) : group_(std::move(group)), rank_(rank) {}

  ThreadGroup& group() const { return *group_; }
  int rank() const { return rank_; }
  int size() const { return group_->size(); }
  RankState& state() const { return group_->rank(rank_); }

  /// Tells peers that this rank got further, so that their deadlines start again and sleepers look.
  void advance() const;

 private:
  std::shared_ptr<ThreadGroup> group_;
  int rank_;
};

/// Held while a thread reads or writes memory that belongs to peers. The flag and the failure are both sequentially
/// consistent: either this sees the failure and stays out, or whoever set the failure sees the flag and waits.
class BusyScope {
 public:
  explicit BusyScope(const Member& member);
  ~BusyScope();
  BusyScope(const BusyScope&) = delete;
  BusyScope& operator=(const BusyScope&) = delete;

  const Member& member() const { return member_; }
  /// False when the group has failed: then touch nothing.
  bool may_run() const { return !member_.group().failure().is_set(); }

 private:
  const Member& member_;
};

/// dst[i] = src[i] in pieces of chunk_bytes, spread over the workers when large. False where a failure cut it short.
bool copy_pieces(const BusyScope& scope, Workers& workers, void* dst, const void* src, std::int64_t bytes);

/// Elements [begin, end) of `sum`, likewise.
bool sum_pieces(const BusyScope& scope, Workers& workers, const collectives::RankOrderSum& sum, std::int64_t begin,
                std::int64_t end);

}  // namespace shoal::threads
