#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "shoal/runtime/device/host/executor.h"
#include "shoal/runtime/device/host/live_threads.h"
#include "shoal/runtime/device/progress_gate.h"
#include "shoal/runtime/device/task.h"

namespace shoal::host {

/// The rank's thread (number 0) and `num_threads - 1` more, which take whichever queue head is ready, communication
/// first, and chunks of each other's parallel_for. With one thread everything happens on the rank's own, without
/// hand-over.
///
/// Idle threads sleep on the pool's gate, except that one of them, and the rank's thread while it waits, sleep on the
/// gate of the process, because a polled operation may be moved by another rank. No mutex and no allocation once the
/// threads exist.
class WorkerPool final : public Executor {
 public:
  /// The threads share the ownership, so that one stuck in a task finds what it needs when it comes back.
  /// Throws Unsupported where the system has not as many.
  static std::shared_ptr<WorkerPool> make(int num_threads);
  explicit WorkerPool(int num_threads);

  Workers* begin_inline(StreamQueue& queue) override;
  void end_inline(StreamQueue& queue) override;
  void pushed(StreamQueue& queue) override;
  bool work_until(StreamQueue& queue, std::uint64_t position, std::chrono::milliseconds deadline) override;
  void stop(std::chrono::milliseconds deadline) noexcept override;
  int num_workers() const override { return static_cast<int>(jobs_.size()); }

 protected:
  void opened(StreamQueue& /*queue*/) override {}
  bool closed(StreamQueue& queue, std::chrono::milliseconds deadline) override;

 private:
  using Call = void (*)(const void* context, std::int64_t chunk, int worker);

  // One thread's parallel_for. Helpers register before they look whether it is open; the owner closes it and then waits
  // until no helper is registered, so the plain fields change only while nobody reads them.
  struct alignas(64) Job {
    std::atomic<bool> is_open{false};
    std::atomic<bool> owner_waits{false};
    std::atomic<bool> has_failed{false};
    std::atomic<int> num_helpers{0};
    std::atomic<std::int64_t> next_chunk{0};
    std::int64_t num_chunks = 0;
    Call call = nullptr;
    const void* context = nullptr;
    std::exception_ptr error;
  };

  class ThreadWorkers final : public Workers {
   public:
    ThreadWorkers(WorkerPool& pool, int thread) : pool_(&pool), thread_(thread) {}
    int count() const override { return pool_->num_workers(); }
    void note_progress() override { pool_->note_progress(); }

   protected:
    void spread(std::int64_t num_chunks, Call call, const void* context) override {
      pool_->spread(thread_, num_chunks, call, context);
    }

   private:
    WorkerPool* pool_;
    int thread_;
  };

  void serve(int thread);
  void rest(int thread, std::uint32_t ticket);
  bool rest_until_other_ranks_move(int thread);
  bool has_work() const;
  bool try_work_from_rest(int thread);
  bool try_work(int thread);
  bool try_queue(StreamQueue& queue, int thread);
  bool help(int thread);
  void spread(int thread, std::int64_t num_chunks, Call call, const void* context);
  static bool run_chunks(Job& job, int worker);
  void wait_for_helpers(Job& job);
  void after_move(const StreamQueue& queue);
  void notify();
  bool is_alone() const { return jobs_.size() == 1; }
  std::chrono::microseconds longest_rest() const;

  LiveThreads live_;
  std::vector<Job> jobs_;  // one per thread
  std::vector<ThreadWorkers> workers_;
  std::vector<std::thread> threads_;
  ProgressGate gate_;
  std::atomic<int> num_open_jobs_{0};
  std::atomic<int> num_resting_{0};
  std::atomic<int> num_on_process_gate_{0};
  std::atomic<int> num_ended_{0};
  std::atomic<bool> is_sentinel_taken_{false};
  std::atomic<bool> is_stopping_{false};
};

}  // namespace shoal::host
