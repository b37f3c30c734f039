#include "shoal/runtime/device/host/stream_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "shoal/runtime/base/int_math.h"
#include "shoal/runtime/device/drop_reason.h"
#include "shoal/runtime/device/host/sanitizer/declared_ranges.h"

namespace shoal::host {
namespace {

// Copies beyond this are shared by the workers.
constexpr std::int64_t kCopyChunkBytes = 256 * 1024;

template <typename Body>
void for_each_chunk(std::int64_t bytes, Workers& workers, const Body& body) {
  if (workers.count() == 1 || bytes <= kCopyChunkBytes) return body(std::int64_t{0}, bytes);
  workers.parallel_for(ceil_div(bytes, kCopyChunkBytes), [&](std::int64_t chunk, int /*worker*/) {
    const std::int64_t begin = chunk * kCopyChunkBytes;
    body(begin, std::min(kCopyChunkBytes, bytes - begin));
  });
}

Progress execute(std::monostate /*work*/, Workers& /*workers*/) { return Progress::Done; }

Progress execute(Task& task, Workers& workers) {
  task(workers);
  return Progress::Done;
}

Progress execute(PolledTask& task, Workers& workers) { return task(workers); }

Progress execute(const CopyWork& work, Workers& workers) {
  auto* dst = static_cast<char*>(work.dst);
  const auto* src = static_cast<const char*>(work.src);
  for_each_chunk(work.bytes, workers, [&](std::int64_t begin, std::int64_t bytes) {
    std::memcpy(dst + begin, src + begin, static_cast<std::size_t>(bytes));
  });
  return Progress::Done;
}

Progress execute(const FillWork& work, Workers& workers) {
  auto* dst = static_cast<char*>(work.dst);
  for_each_chunk(work.bytes, workers, [&](std::int64_t begin, std::int64_t bytes) {
    std::memset(dst + begin, work.value, static_cast<std::size_t>(bytes));
  });
  return Progress::Done;
}

Progress execute(const WaitWork& work, Workers& /*workers*/) {
  if (work.awaited()->completed() < work.position()) return Progress::Pending;
  if (work.awaited()->has_failed_before(work.position())) std::rethrow_exception(work.awaited()->error());
  return Progress::Done;
}

// What a task captured goes before anybody can see that it has run.
template <typename Work>
void destroy(Work& work) {
  if constexpr (requires { work.reset(); }) work.reset();
}

// Lets a task destroy itself, with the reason where it may be for one that has not run.
template <typename Destroy>
void let_go(const StreamQueue& queue, const Destroy& destroy_task) {
  if (!queue.has_failed()) return destroy_task();
  const DropReason reason(queue.error());
  destroy_task();
}

}  // namespace

WaitWork::WaitWork(StreamQueue& awaited, std::uint64_t position) : awaited_(&awaited), position_(position) {
  awaited.num_awaiting_.fetch_add(1);
}

WaitWork::~WaitWork() {
  if (awaited_ != nullptr) awaited_->num_awaiting_.fetch_sub(1);
}

StreamQueue::StreamQueue(StreamRole role) : role_(role), slots_(std::allocator<Slot>().allocate(kCapacity)) {
  if (wants_declared_ranges()) declared_.resize(kCapacity);
}

StreamQueue::~StreamQueue() {
  for (std::size_t i = 0; i < kCapacity; ++i) {
    if (made_[i]) std::destroy_at(&slots_[i]);
  }
  std::allocator<Slot>().deallocate(slots_, kCapacity);
}

StreamQueue::Slot& StreamQueue::next_slot() {
  const std::uint64_t index = tail_.load() % kCapacity;
  if (!made_[index]) std::construct_at(&slots_[index]);
  made_[index] = true;
  return slots_[index];
}

void StreamQueue::declare(const ByteRanges* reads, const ByteRanges* writes) {
  if (declared_.empty()) return;
  declared_[tail_.load() % kCapacity] = {reads == nullptr ? ByteRanges() : *reads,
                                         writes == nullptr ? ByteRanges() : *writes};
}

template <typename Work>
void StreamQueue::push(const char* name, const char* scope, const ByteRanges* reads, const ByteRanges* writes,
                       Work work) {
  Slot& next = next_slot();
  next.name = name;
  next.scope = scope;
  next.awaited = nullptr;
  if constexpr (std::is_same_v<Work, WaitWork>) next.awaited = work.awaited();
  declare(reads, writes);
  next.work.template emplace<Work>(std::move(work));
  tail_.store(tail_.load() + 1);
}

std::string StreamQueue::describe_head() const {
  constexpr int kMaxHops = 4;
  std::string text;
  const StreamQueue* queue = this;
  for (int hop = 0; hop < kMaxHops && queue != nullptr; ++hop) {
    const std::uint64_t head = queue->head_.load();
    if (head == queue->tail_.load()) return text + "nothing is queued";
    const Slot& waiting = queue->slot(head);
    text += fmt::format("'{}'", waiting.name);
    if (waiting.scope != nullptr) text += fmt::format(" ({})", waiting.scope);
    queue = waiting.awaited;
    if (queue != nullptr) text += fmt::format(" for stream '{}', whose head is ", queue->name());
  }
  return queue == nullptr ? text : text + "one more wait";
}

bool StreamQueue::head_is_wait() const { return !is_empty() && slot(head_.load()).awaited != nullptr; }

StreamQueue::Step StreamQueue::try_head(Workers& workers) {
  if (is_empty()) return Step::Empty;
  if (!try_claim()) return Step::Blocked;
  const Step step = is_empty() ? Step::Empty : run_head(workers);
  release_claim();
  return step;
}

StreamQueue::Step StreamQueue::run_head(Workers& workers) {
  const std::uint64_t position = head_.load();
  Slot& head = slot(position);
  if (!has_failed()) {
    try {
      if (!declared_.empty()) {
        // Once: while a polled operation goes on, other ranks may have their turn with the same bytes.
        Declared& declared = declared_[position % kCapacity];
        report_declared_ranges(declared.reads, declared.writes);
        declared = {};
      }
      const auto progress = std::visit([&](auto& work) { return execute(work, workers); }, head.work);
      if (progress == Progress::Pending) return Step::Blocked;
    } catch (...) {
      set_error(std::current_exception(), position);
    }
  }
  let_go(*this, [&] { head.work.emplace<std::monostate>(); });
  head_.store(position + 1);
  return Step::Moved;
}

template <typename Work>
bool StreamQueue::run_inline(Work& work, const ByteRanges& reads, const ByteRanges& writes, Workers& workers) {
  const std::uint64_t position = tail_.load();
  if (!has_failed()) {
    try {
      report_declared_ranges(reads, writes);
      if (execute(work, workers) == Progress::Pending) return false;
    } catch (...) {
      set_error(std::current_exception(), position);
    }
  }
  let_go(*this, [&] { destroy(work); });
  tail_.store(position + 1);
  head_.store(position + 1);
  known_head_ = position + 1;
  return true;
}

void StreamQueue::drop_pending(std::exception_ptr error) {
  set_error(std::move(error), head_.load());
  while (!is_empty()) {
    let_go(*this, [&] { slot(head_.load()).work.emplace<std::monostate>(); });
    head_.store(head_.load() + 1);
  }
}

void StreamQueue::set_error(std::exception_ptr error, std::uint64_t position) {
  if (has_failed()) return;
  error_ = std::move(error);
  failed_at_ = position;
  failed_.store(true, std::memory_order_release);
}

template void StreamQueue::push(const char*, const char*, const ByteRanges*, const ByteRanges*, Task);
template void StreamQueue::push(const char*, const char*, const ByteRanges*, const ByteRanges*, PolledTask);
template void StreamQueue::push(const char*, const char*, const ByteRanges*, const ByteRanges*, CopyWork);
template void StreamQueue::push(const char*, const char*, const ByteRanges*, const ByteRanges*, FillWork);
template void StreamQueue::push(const char*, const char*, const ByteRanges*, const ByteRanges*, WaitWork);
template bool StreamQueue::run_inline(Task&, const ByteRanges&, const ByteRanges&, Workers&);
template bool StreamQueue::run_inline(PolledTask&, const ByteRanges&, const ByteRanges&, Workers&);
template bool StreamQueue::run_inline(CopyWork&, const ByteRanges&, const ByteRanges&, Workers&);
template bool StreamQueue::run_inline(FillWork&, const ByteRanges&, const ByteRanges&, Workers&);
template bool StreamQueue::run_inline(WaitWork&, const ByteRanges&, const ByteRanges&, Workers&);

}  // namespace shoal::host
