#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "shoal/runtime/device/host/stream_queue.h"

namespace shoal::host {

/// Who runs the operations of one device's queues, and when. Owns the queues, which live until it goes: a closed one
/// that has not failed serves the next stream of its role, so that events may point at it for ever. All calls come from
/// the rank's thread.
class Executor {
 public:
  static constexpr std::size_t kMaxQueues = 256;

  Executor() = default;
  virtual ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Throws Unsupported beyond kMaxQueues.
  StreamQueue& open(StreamRole role, const std::string& name);
  /// Works until the queue is empty, at most `deadline` without progress; then drops what is left.
  void close(StreamQueue& queue, std::chrono::milliseconds deadline) noexcept;

  /// Before an operation is enqueued: gives pending work a try. Where the caller may then run the operation itself,
  /// returns the workers for it and holds the claim of `queue`, which is empty; otherwise returns null.
  virtual Workers* begin_inline(StreamQueue& queue) = 0;
  /// The caller's operation was run inline.
  virtual void end_inline(StreamQueue& queue) = 0;
  /// An operation was appended.
  virtual void pushed(StreamQueue& queue) = 0;
  /// Returns true once `queue` has completed `position` operations; false when nothing on the device moved for
  /// `deadline`.
  virtual bool work_until(StreamQueue& queue, std::uint64_t position, std::chrono::milliseconds deadline) = 0;
  /// Ends the threads. One that is stuck in an operation is left to itself after `deadline`.
  virtual void stop(std::chrono::milliseconds deadline) noexcept = 0;
  /// Threads that one operation may use.
  virtual int num_workers() const = 0;

  /// An operation that is not done has got further; from any of the threads.
  void note_progress() { num_noted_.fetch_add(1, std::memory_order_relaxed); }

  /// True when a thread was left inside an operation: memory that it may touch must stay.
  bool is_abandoned() const { return is_abandoned_; }

 protected:
  virtual void opened(StreamQueue& queue) = 0;
  /// No further operations come. True when no thread can touch the queue any more.
  virtual bool closed(StreamQueue& queue, std::chrono::milliseconds deadline) = 0;

  /// Operations completed on all queues, and progress noted inside them: grows while the device moves.
  std::uint64_t total_progress() const;
  void abandon() { is_abandoned_ = true; }

  /// Queues of one kind, which other threads walk while the rank's thread adds one.
  class QueueList {
   public:
    void add(StreamQueue& queue);
    StreamQueue* const* begin() const { return queues_.data(); }
    StreamQueue* const* end() const { return queues_.data() + count_.load(std::memory_order_acquire); }

   private:
    std::array<StreamQueue*, kMaxQueues> queues_{};
    std::atomic<std::size_t> count_{0};
  };
  const QueueList& communication() const { return communication_; }
  const QueueList& compute() const { return compute_; }

 private:
  std::vector<std::unique_ptr<StreamQueue>> queues_;
  std::vector<StreamQueue*> reusable_;
  QueueList communication_;
  QueueList compute_;
  std::atomic<std::uint64_t> num_noted_{0};
  bool is_abandoned_ = false;
};

}  // namespace shoal::host
