#include "shoal/runtime/device/host/executor.h"

#include <fmt/format.h>

#include <algorithm>

#include "shoal/runtime/base/error.h"

namespace shoal::host {
namespace {

constexpr std::chrono::milliseconds kLastChance{1000};

}  // namespace

void Executor::QueueList::add(StreamQueue& queue) {
  const std::size_t count = count_.load();
  queues_[count] = &queue;
  count_.store(count + 1, std::memory_order_release);
}

Executor::~Executor() {
  // Waits count at the queues they are for, so they go while all queues exist.
  for (const auto& queue : queues_) queue->drop_pending(nullptr);
}

StreamQueue& Executor::open(StreamRole role, const std::string& name) {
  StreamQueue* queue = nullptr;
  const auto found =
      std::find_if(reusable_.begin(), reusable_.end(), [&](const StreamQueue* q) { return q->role() == role; });
  if (found != reusable_.end()) {
    queue = *found;
    reusable_.erase(found);
  } else {
    if (queues_.size() == kMaxQueues) {
      fail(ErrorCode::Unsupported,
           fmt::format("[make_stream] '{}' would be more than {} streams of one device that exist or have failed", name,
                       kMaxQueues));
    }
    queue = queues_.emplace_back(std::make_unique<StreamQueue>(role)).get();
    (queue->is_communication() ? communication_ : compute_).add(*queue);
  }
  queue->set_name(name);
  opened(*queue);
  return *queue;
}

void Executor::close(StreamQueue& queue, std::chrono::milliseconds deadline) noexcept {
  const bool is_drained = work_until(queue, queue.enqueued(), deadline);
  // A thread that holds the claim after the deadline is stuck in an operation; the rest is for one that is just leaving
  // it.
  if (!closed(queue, is_drained ? deadline : std::min(deadline, kLastChance))) return abandon();
  if (!is_drained) {
    queue.drop_pending(
        std::make_exception_ptr(Error(ErrorCode::Aborted, fmt::format("[stream] '{}' was destroyed before {} had run",
                                                                      queue.name(), queue.describe_head()))));
  }
  queue.release_claim();
  if (!queue.has_failed()) reusable_.push_back(&queue);
}

std::uint64_t Executor::total_progress() const {
  std::uint64_t total = num_noted_.load(std::memory_order_relaxed);
  for (const auto& queue : queues_) total += queue->count_completed();
  return total;
}

}  // namespace shoal::host
