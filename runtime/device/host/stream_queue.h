#pragma once

#include <atomic>
#include <bitset>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "shoal/runtime/device/byte_range.h"
#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/device/task.h"

namespace shoal::host {

class StreamQueue;

struct CopyWork {
  void* dst;
  const void* src;
  std::int64_t bytes;
};

struct FillWork {
  void* dst;
  std::int64_t bytes;
  std::uint8_t value;
};

/// Holds its queue until `awaited` has passed `position`, and inherits the error it had there. Counted by the awaited
/// queue while it exists, so that whoever advances that queue knows that somebody may be waiting.
class WaitWork {
 public:
  WaitWork(StreamQueue& awaited, std::uint64_t position);
  WaitWork(WaitWork&& other) noexcept : awaited_(std::exchange(other.awaited_, nullptr)), position_(other.position_) {}
  WaitWork& operator=(WaitWork&& other) = delete;
  WaitWork(const WaitWork&) = delete;
  WaitWork& operator=(const WaitWork&) = delete;
  ~WaitWork();

  StreamQueue* awaited() const { return awaited_; }
  std::uint64_t position() const { return position_; }

 private:
  StreamQueue* awaited_;
  std::uint64_t position_;
};

/// One stream's operations: a ring of slots made once, filled by the rank's thread and emptied, one thread at a time,
/// by whoever holds the claim. Positions count operations: an event is a queue and the number of operations before it,
/// so recording one costs no operation, and a wait binds to the record of its time by itself.
///
/// `tail_`, `head_` and the counters use sequentially consistent operations: a thread that publishes and then finds
/// nobody waiting, and a thread that announces itself and then finds nothing published, cannot both be right.
class StreamQueue {
 public:
  static constexpr std::uint64_t kCapacity = 256;
  enum class Step { Empty, Blocked, Moved };

  explicit StreamQueue(StreamRole role);
  ~StreamQueue();
  StreamQueue(const StreamQueue&) = delete;
  StreamQueue& operator=(const StreamQueue&) = delete;

  StreamRole role() const { return role_; }
  bool is_communication() const { return role_ != StreamRole::Compute; }

  // The rank's thread.
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  std::uint64_t enqueued() const { return tail_.load(); }
  bool is_full() {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - known_head_ >= kCapacity) known_head_ = head_.load();
    return tail - known_head_ >= kCapacity;
  }
  /// True when the rank's thread has already seen everything pass.
  bool is_known_empty() const { return tail_.load(std::memory_order_relaxed) == known_head_; }
  /// Appends an operation; there must be room. `ranges` may be null: the declaration was already reported.
  template <typename Work>
  void push(const char* name, const char* scope, const ByteRanges* reads, const ByteRanges* writes, Work work);
  /// "'all_gather' (block.3)", following waits to the stream they are for; for messages.
  std::string describe_head() const;
  /// `completed()` at which the rank's thread wants to be woken.
  void set_target(std::uint64_t position) { target_.store(position); }

  // Any thread.
  bool is_empty() const { return head_.load() == tail_.load(); }
  std::uint64_t completed() const { return head_.load(); }
  /// The same, as a figure only: what those operations did is not yet visible to the caller.
  std::uint64_t count_completed() const { return head_.load(std::memory_order_relaxed); }
  /// True when somebody may be waiting for what the latest operation did.
  bool is_awaited() const { return num_awaiting_.load() != 0 || head_.load() >= target_.load(); }
  bool has_failed() const { return failed_.load(std::memory_order_acquire); }
  bool has_failed_before(std::uint64_t position) const { return has_failed() && failed_at_ < position; }
  /// The sticky error, or null.
  std::exception_ptr error() const { return has_failed() ? error_ : nullptr; }
  bool try_claim() { return !claimed_.load(std::memory_order_relaxed) && !claimed_.exchange(true); }
  void release_claim() { claimed_.store(false); }
  /// Runs the operation at the head if there is one, nobody else holds the claim, and it can go on.
  Step try_head(Workers& workers);

  // The holder of the claim.
  bool head_is_wait() const;
  /// Runs `work` as the next operation without a slot; the queue is empty. False when it has to be tried again.
  template <typename Work>
  bool run_inline(Work& work, const ByteRanges& reads, const ByteRanges& writes, Workers& workers);
  /// Destroys what is queued without running it; the stream has failed with `error`.
  void drop_pending(std::exception_ptr error);

 private:
  friend class WaitWork;
  using AnyWork = std::variant<std::monostate, Task, PolledTask, CopyWork, FillWork, WaitWork>;
  struct Slot {
    // Written by the rank's thread only, so that it may read them at any time.
    const char* name = nullptr;
    const char* scope = nullptr;
    const StreamQueue* awaited = nullptr;
    AnyWork work;
  };
  struct Declared {
    ByteRanges reads;
    ByteRanges writes;
  };

  Slot& slot(std::uint64_t position) const { return slots_[position % kCapacity]; }
  Slot& next_slot();
  void declare(const ByteRanges* reads, const ByteRanges* writes);
  Step run_head(Workers& workers);
  void set_error(std::exception_ptr error, std::uint64_t position);

  const StreamRole role_;
  std::string name_;
  Slot* slots_;                     // raw memory; a slot is made when it is first used
  std::bitset<kCapacity> made_;     // which slots are
  std::vector<Declared> declared_;  // one per slot, or none
  // What the rank's thread last saw of `head_`. It looks again only when it must, which is cheaper, and leaves the
  // sanitizer able to tell operations that nothing but the enqueuing thread's look would order.
  std::uint64_t known_head_ = 0;
  std::exception_ptr error_;
  std::uint64_t failed_at_ = 0;
  std::atomic<bool> failed_{false};
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  alignas(64) std::atomic<std::uint64_t> head_{0};
  std::atomic<bool> claimed_{false};
  alignas(64) std::atomic<int> num_awaiting_{0};
  std::atomic<std::uint64_t> target_{std::numeric_limits<std::uint64_t>::max()};
};

}  // namespace shoal::host
