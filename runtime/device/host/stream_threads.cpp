#include "shoal/runtime/device/host/stream_threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "shoal/runtime/base/counter_rng.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/progress_gate.h"

namespace shoal::host {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kShortestRest{20};
constexpr std::chrono::microseconds kLongestRest{1000};
constexpr std::uint32_t kLongestDelayMicros = 200;

class OneWorker final : public Workers {
 public:
  explicit OneWorker(Executor& executor) : executor_(&executor) {}
  int count() const override { return 1; }
  void note_progress() override { executor_->note_progress(); }

 protected:
  void spread(std::int64_t num_chunks, void (*call)(const void*, std::int64_t, int), const void* context) override {
    for (std::int64_t chunk = 0; chunk < num_chunks; ++chunk) call(context, chunk, 0);
  }

 private:
  Executor* executor_;
};

}  // namespace

void StreamThreads::opened(StreamQueue& queue) {
  auto runner = std::make_shared<Runner>();
  runner->queue = &queue;
  runner->index = num_opened_++;
  runners_[&queue] = runner;
  try {
    runner->thread = std::thread([self = shared_from_this(), runner] { self->serve(*runner); });
  } catch (const std::system_error& error) {
    runners_.erase(&queue);
    fail(ErrorCode::Unsupported, fmt::format("[make_stream] no thread could be started for stream '{}' ({}); fewer "
                                             "streams, or a higher limit on threads or memory, would work",
                                             queue.name(), error.what()));
  }
}

bool StreamThreads::work_until(StreamQueue& queue, std::uint64_t position, std::chrono::milliseconds deadline) {
  std::uint64_t seen = total_progress();
  Clock::time_point since = Clock::now();
  for (;;) {
    const std::uint32_t ticket = process_gate().ticket();
    if (queue.completed() >= position) return true;
    const Clock::time_point now = Clock::now();
    const std::uint64_t total = total_progress();
    if (total != seen) since = now;
    seen = total;
    const auto quiet = std::chrono::duration_cast<std::chrono::microseconds>(now - since);
    if (quiet >= deadline) return false;
    process_gate().wait(ticket, std::min<std::chrono::microseconds>(kLongestRest, deadline - quiet));
  }
}

bool StreamThreads::closed(StreamQueue& queue, std::chrono::milliseconds deadline) {
  const auto found = runners_.find(&queue);
  const bool has_ended = end(*found->second, deadline);
  runners_.erase(found);
  return has_ended && queue.try_claim();
}

void StreamThreads::stop(std::chrono::milliseconds deadline) noexcept {
  for (auto& [queue, runner] : runners_) {
    if (!end(*runner, deadline)) abandon();
  }
  runners_.clear();
}

bool StreamThreads::end(Runner& runner, std::chrono::milliseconds deadline) {
  runner.is_stopping.store(true);
  const auto give_up = Clock::now() + deadline;
  process_gate().notify();
  while (!runner.has_ended.load() && Clock::now() < give_up) {
    const std::uint32_t ticket = process_gate().ticket();
    if (!runner.has_ended.load()) process_gate().wait(ticket, kLongestRest);
  }
  if (!runner.has_ended.load()) {
    runner.thread.detach();
    return false;
  }
  runner.thread.join();
  return true;
}

void StreamThreads::serve(Runner& runner) {
  OneWorker workers(*this);
  StreamQueue& queue = *runner.queue;
  std::uint64_t next_delayed = queue.completed();
  std::chrono::microseconds rest = kShortestRest;
  // The thread looks again after a growing while instead of sleeping on the gate: through a gate every operation would
  // come before whatever starts after its notify, and a race detector would not see the missing waits that this mode is
  // for.
  while (!runner.is_stopping.load()) {
    const std::uint64_t position = queue.completed();
    if (!queue.is_empty() && !queue.head_is_wait() && position >= next_delayed) {
      delay(runner, position);
      next_delayed = position + 1;
    }
    if (queue.try_head(workers) == StreamQueue::Step::Moved) {
      rest = kShortestRest;
      process_gate().notify();
    } else {
      std::this_thread::sleep_for(rest);
      rest = std::min(2 * rest, kLongestRest);
    }
  }
  runner.has_ended.store(true);
  process_gate().notify();
}

void StreamThreads::delay(const Runner& runner, std::uint64_t position) const {
  const std::uint32_t word = philox4x32(delay_seed_, position, runner.index)[0];
  std::this_thread::sleep_for(std::chrono::microseconds(word % (kLongestDelayMicros + 1)));
}

}  // namespace shoal::host
