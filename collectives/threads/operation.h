#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "shoal/collectives/threads/member.h"
#include "shoal/collectives/threads/rank_set.h"
#include "shoal/runtime/device/task.h"

namespace shoal::threads {

/// What a rank posts for one operation.
struct Post {
  std::uint64_t sequence = 0;
  collectives::Fingerprint fingerprint;
  const std::byte* send = nullptr;
  const std::byte* recv = nullptr;
  std::int32_t receives_from = -1;
};

/// One rank's operation from its turn on the stream to its end. Nothing here blocks: what returns false is tried again
/// by the next poll, and the reason is in wait() or the group has failed. An operation destroyed before its end
/// (because its stream had failed) fails the group, so that peers need not wait for the deadline.
class Operation {
 public:
  Operation(std::shared_ptr<Member> member, const Post& post);
  /// Outside the numbering: posts nothing.
  Operation(std::shared_ptr<Member> member, const char* name);
  Operation(Operation&&) = default;
  Operation& operator=(Operation&&) = delete;
  ~Operation();

  const Member& member() const { return *member_; }
  ThreadGroup& group() const { return member_->group(); }
  int rank() const { return member_->rank(); }
  int size() const { return member_->size(); }
  std::uint64_t sequence() const { return post_.sequence; }
  const RingEntry& entry(int peer) const { return group().entry(peer, post_.sequence); }

  /// Posts the operation once it is this rank's turn and peers are not too far behind, and compares it with what peers
  /// have posted under its number. Of two ranks, at least one sees the other's post.
  bool try_post();
  /// Whether `peer` has posted the same operation. Where it has posted another one, the group fails.
  bool has_post(int peer);
  /// has_post of every rank.
  bool has_all_posts();
  /// Whether every rank, or wait.only, has got as far as `wait`.
  bool await(const Wait& wait);
  /// Says what is missing without looking.
  void set_wait(const Wait& wait) { wait_ = wait; }
  /// This rank's slice of an all_reduce is summed.
  void mark_reduced();
  /// This rank touches no peer's buffer any more.
  void mark_done();

  bool has_failed() const { return group().failure().is_set(); }
  void fail(ErrorCode code, const std::string& what);
  /// Throws the group's failure once no member touches another's memory; Pending until then.
  Progress raise_when_quiet();
  /// Fails the group where a peer has left for good, or nothing has moved for the deadline. What any member has moved
  /// puts off the deadlines of this device's streams, too.
  void check_stall(Workers& workers);
  void finish() { is_finished_ = true; }

  /// "operation 17, all_gather (40 bytes, fp32)".
  std::string describe() const;

 private:
  void fail_mismatch(int peer);

  std::shared_ptr<Member> member_;
  const char* name_;
  Post post_;
  Wait wait_;
  int next_peer_ = 0;  // ranks before it have passed the wait in progress
  bool is_finished_ = false;
  bool is_watched_ = false;
  std::uint64_t seen_progress_ = 0;
  std::chrono::steady_clock::time_point moved_at_;
};

/// The polled task of an operation. `Work` has
///   read(Operation&, Workers&): true once this rank needs nothing more of its peers;
///   is_released(Operation&): true once no peer can touch this rank's buffers; without one, once all ranks are done.
template <typename Work>
class NumberedTask {
 public:
  NumberedTask(std::shared_ptr<Member> member, const Post& post, Work work)
      : operation_(std::move(member), post), work_(std::move(work)) {}

  Progress operator()(Workers& workers) {
    if (operation_.has_failed()) return operation_.raise_when_quiet();
    if (step(workers)) {
      operation_.finish();
      return Progress::Done;
    }
    operation_.check_stall(workers);
    return operation_.has_failed() ? operation_.raise_when_quiet() : Progress::Pending;
  }

 private:
  enum class Stage : std::uint8_t { Start, Read, Release };

  bool step(Workers& workers) {
    if (stage_ == Stage::Start) {
      if (!operation_.try_post()) return false;
      stage_ = Stage::Read;
    }
    if (stage_ == Stage::Read) {
      if (!work_.read(operation_, workers)) return false;
      operation_.mark_done();
      stage_ = Stage::Release;
    }
    return is_released();
  }

  bool is_released() {
    if constexpr (requires { work_.is_released(operation_); }) {
      return work_.is_released(operation_);
    } else {
      return operation_.await({Awaited::Done, operation_.sequence()});
    }
  }

  Operation operation_;
  Work work_;
  Stage stage_ = Stage::Start;
};

}  // namespace shoal::threads
