#include "shoal/runtime/device/host/worker_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "shoal/runtime/base/deadline.h"
#include "shoal/runtime/base/error.h"

namespace shoal::host {
namespace {

using Clock = std::chrono::steady_clock;

// How long a thread looks for work before it sleeps, where that keeps nobody from a core: about what a sleep and a wake
// cost.
constexpr std::chrono::microseconds kLookAround{20};
// Sleeps while operations are pending: so that an operation which moved without a notify costs this, not the deadline.
constexpr std::chrono::microseconds kRestWhilePending{1000};
constexpr std::chrono::microseconds kRestWhileEmpty{1'000'000};

}  // namespace

std::shared_ptr<WorkerPool> WorkerPool::make(int num_threads) {
  auto pool = std::make_shared<WorkerPool>(num_threads);
  pool->threads_.reserve(static_cast<std::size_t>(num_threads));
  try {
    for (int thread = 1; thread < num_threads; ++thread) {
      pool->threads_.emplace_back([pool, thread] { pool->serve(thread); });
    }
  } catch (const std::system_error& error) {
    const std::size_t num_started = pool->threads_.size();
    pool->stop(kLongestDeadline);  // they have nothing to do, so they end at once
    fail(ErrorCode::Unsupported,
         fmt::format("[open_device] of {} threads only {} could be started ({}); fewer threads, or a higher limit on "
                     "threads or memory, would work",
                     num_threads - 1, num_started, error.what()));
  }
  return pool;
}

WorkerPool::WorkerPool(int num_threads) : live_(num_threads), jobs_(static_cast<std::size_t>(num_threads)) {
  for (int thread = 0; thread < num_threads; ++thread) workers_.emplace_back(*this, thread);
}

Workers* WorkerPool::begin_inline(StreamQueue& queue) {
  // With a free worker, communication is its work; the rank's thread goes on with the computation.
  const bool is_left_to_others = num_resting_.load(std::memory_order_relaxed) > 0;
  if (!is_left_to_others) {
    for (StreamQueue* other : communication()) {
      if (other != &queue) try_queue(*other, 0);
    }
  }
  while (try_queue(queue, 0)) {
  }
  if (!queue.is_empty() || (queue.is_communication() && is_left_to_others)) return nullptr;
  if (!queue.try_claim()) return nullptr;
  return workers_.data();
}

void WorkerPool::end_inline(StreamQueue& queue) {
  queue.release_claim();
  after_move(queue);
}

void WorkerPool::pushed(StreamQueue& queue) {
  // Whoever empties the queue looks again after its last operation; only an idle one has to be told.
  if (!is_alone() && queue.completed() + 1 >= queue.enqueued()) notify();
}

bool WorkerPool::work_until(StreamQueue& queue, std::uint64_t position, std::chrono::milliseconds deadline) {
  if (queue.completed() >= position) return true;
  queue.set_target(position);
  num_on_process_gate_.fetch_add(1);
  std::uint64_t seen = total_progress();
  bool has_moved = true;
  Clock::time_point since;
  while (queue.completed() < position) {
    const std::uint32_t ticket = process_gate().ticket();
    // Before the try: however long it takes, it began in time.
    Clock::time_point now = has_moved ? since : Clock::now();
    if (try_work(0)) {
      has_moved = true;
      continue;
    }
    const std::uint64_t total = total_progress();
    if (has_moved || total != seen) since = now = Clock::now();
    has_moved = false;
    seen = total;
    const auto quiet = std::chrono::duration_cast<std::chrono::microseconds>(now - since);
    if (quiet >= deadline) break;
    if (quiet < kLookAround && LiveThreads::fit_the_cores()) {
      std::this_thread::yield();
    } else {
      process_gate().wait(ticket, std::min<std::chrono::microseconds>(kRestWhilePending, deadline - quiet));
    }
  }
  num_on_process_gate_.fetch_sub(1);
  queue.set_target(std::numeric_limits<std::uint64_t>::max());
  return queue.completed() >= position;
}

bool WorkerPool::closed(StreamQueue& queue, std::chrono::milliseconds deadline) {
  const auto end = Clock::now() + deadline;
  while (!queue.try_claim()) {
    if (Clock::now() >= end) return false;
    const std::uint32_t ticket = gate_.ticket();
    gate_.wait(ticket, kRestWhilePending);
  }
  return true;
}

void WorkerPool::stop(std::chrono::milliseconds deadline) noexcept {
  is_stopping_.store(true);
  notify();
  const auto end = Clock::now() + deadline;
  const int num_started = static_cast<int>(threads_.size());
  while (num_ended_.load() < num_started && Clock::now() < end) {
    const std::uint32_t ticket = gate_.ticket();
    if (num_ended_.load() < num_started) gate_.wait(ticket, kRestWhilePending);
  }
  const bool have_ended = num_ended_.load() == num_started;
  if (!have_ended) abandon();
  for (std::thread& thread : threads_) {
    if (have_ended) {
      thread.join();
    } else {
      thread.detach();
    }
  }
  threads_.clear();
}

void WorkerPool::serve(int thread) {
  while (!is_stopping_.load()) {
    const std::uint32_t ticket = gate_.ticket();
    if (!try_work(thread)) rest(thread, ticket);
  }
  num_ended_.fetch_add(1);
  gate_.notify();
}

void WorkerPool::rest(int thread, std::uint32_t ticket) {
  num_resting_.fetch_add(1);
  if (LiveThreads::fit_the_cores()) {
    for (const auto end = Clock::now() + kLookAround; Clock::now() < end;) {
      std::this_thread::yield();
      if (try_work_from_rest(thread)) return;
    }
  }
  if (!is_stopping_.load()) {
    if (!is_sentinel_taken_.exchange(true)) {
      const bool has_moved = rest_until_other_ranks_move(thread);
      is_sentinel_taken_.store(false);
      if (has_moved) return;
    } else {
      gate_.wait(ticket, longest_rest());
    }
  }
  num_resting_.fetch_sub(1);
}

bool WorkerPool::rest_until_other_ranks_move(int thread) {
  num_on_process_gate_.fetch_add(1);
  const std::uint32_t ticket = process_gate().ticket();
  const bool has_moved = try_work_from_rest(thread);
  if (!has_moved && !is_stopping_.load()) process_gate().wait(ticket, longest_rest());
  num_on_process_gate_.fetch_sub(1);
  return has_moved;
}

// A thread that works is not resting, or nobody would poll communication meanwhile: the rank's thread leaves that to
// resting threads. True where it has worked; then it no longer counts as resting.
bool WorkerPool::try_work_from_rest(int thread) {
  if (!has_work()) return false;
  num_resting_.fetch_sub(1);
  if (try_work(thread)) return true;
  num_resting_.fetch_add(1);
  return false;
}

bool WorkerPool::has_work() const {
  auto is_waiting = [](const StreamQueue* queue) { return !queue->is_empty(); };
  return num_open_jobs_.load() > 0 || std::any_of(communication().begin(), communication().end(), is_waiting) ||
         std::any_of(compute().begin(), compute().end(), is_waiting);
}

bool WorkerPool::try_work(int thread) {
  for (StreamQueue* queue : communication()) {
    if (try_queue(*queue, thread)) return true;
  }
  if (num_open_jobs_.load() > 0 && help(thread)) return true;
  for (StreamQueue* queue : compute()) {
    if (try_queue(*queue, thread)) return true;
  }
  return false;
}

bool WorkerPool::try_queue(StreamQueue& queue, int thread) {
  if (queue.try_head(workers_[static_cast<std::size_t>(thread)]) != StreamQueue::Step::Moved) return false;
  after_move(queue);
  return true;
}

bool WorkerPool::help(int thread) {
  bool has_run = false;
  for (Job& job : jobs_) {
    if (!job.is_open.load()) continue;
    job.num_helpers.fetch_add(1);
    if (job.is_open.load()) has_run = run_chunks(job, thread) || has_run;
    if (job.num_helpers.fetch_sub(1) == 1 && job.owner_waits.load()) gate_.notify();
  }
  return has_run;
}

void WorkerPool::spread(int thread, std::int64_t num_chunks, Call call, const void* context) {
  if (num_chunks <= 0) return;
  Job& job = jobs_[static_cast<std::size_t>(thread)];
  job.num_chunks = num_chunks;
  job.call = call;
  job.context = context;
  job.has_failed.store(false);
  job.next_chunk.store(0);
  num_open_jobs_.fetch_add(1);
  job.is_open.store(true);
  notify();
  run_chunks(job, thread);
  job.is_open.store(false);
  num_open_jobs_.fetch_sub(1);
  wait_for_helpers(job);
  if (job.has_failed.load()) std::rethrow_exception(std::exchange(job.error, nullptr));
}

bool WorkerPool::run_chunks(Job& job, int worker) {
  bool has_run = false;
  for (;;) {
    const std::int64_t chunk = job.next_chunk.fetch_add(1);
    if (chunk >= job.num_chunks) return has_run;
    has_run = true;
    try {
      job.call(job.context, chunk, worker);
    } catch (...) {
      if (!job.has_failed.exchange(true)) job.error = std::current_exception();
      job.next_chunk.store(job.num_chunks);
    }
  }
}

// A helper's chunk is waited for as one's own would be: it is the same operation.
void WorkerPool::wait_for_helpers(Job& job) {
  if (job.num_helpers.load() == 0) return;
  if (LiveThreads::fit_the_cores()) {
    for (const auto end = Clock::now() + kLookAround; Clock::now() < end;) {
      if (job.num_helpers.load() == 0) return;
      std::this_thread::yield();
    }
  }
  job.owner_waits.store(true);
  for (;;) {
    const std::uint32_t ticket = gate_.ticket();
    if (job.num_helpers.load() == 0) break;
    gate_.wait(ticket, kRestWhilePending);
  }
  job.owner_waits.store(false);
}

void WorkerPool::after_move(const StreamQueue& queue) {
  if (!is_alone() && queue.is_awaited()) notify();
  if (queue.is_communication()) process_gate().notify();
}

void WorkerPool::notify() {
  gate_.notify();
  if (num_on_process_gate_.load() != 0) process_gate().notify();
}

std::chrono::microseconds WorkerPool::longest_rest() const { return has_work() ? kRestWhilePending : kRestWhileEmpty; }

}  // namespace shoal::host
