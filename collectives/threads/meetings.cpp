#include "shoal/collectives/threads/meetings.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "shoal/collectives/threads/thread_group.h"

namespace shoal::threads {
void Meetings::make_children(SplitRecord& record, const ThreadGroup& parent) {
  std::erase_if(children_, [](const std::weak_ptr<ThreadGroup>& child) { return child.expired(); });

  std::vector<int> order(record.slots.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const SplitRequest& left = record.slot(a).request;
    const SplitRequest& right = record.slot(b).request;
    return std::tuple(left.color, left.key, a) < std::tuple(right.color, right.key, b);
  });
  for (std::size_t begin = 0; begin < order.size();) {
    const SplitRequest& first = record.slot(order[begin]).request;
    std::size_t end = begin;
    while (end < order.size() && record.slot(order[end]).request.color == first.color) ++end;
    const auto child = std::make_shared<ThreadGroup>(static_cast<int>(end - begin), parent.options(), first.name);
    for (std::size_t i = begin; i < end; ++i) {
      record.slot(order[i]).child = child;
      record.slot(order[i]).child_rank = static_cast<int>(i - begin);
    }
    children_.push_back(child);
    if (abort_) child->abort(abort_->text, abort_->rank);
    begin = end;
  }
}

std::vector<std::shared_ptr<ThreadGroup>> Meetings::live_children() const {
  std::vector<std::shared_ptr<ThreadGroup>> live;
  for (const std::weak_ptr<ThreadGroup>& child : children_) {
    if (auto group = child.lock()) live.push_back(std::move(group));
  }
  return live;
}

std::vector<std::shared_ptr<ThreadGroup>> Meetings::children() {
  const std::lock_guard lock(mutex_);
  return live_children();
}

std::vector<std::shared_ptr<ThreadGroup>> Meetings::abort(const std::string& text, int rank) {
  const std::lock_guard lock(mutex_);
  if (!abort_) abort_ = {text, rank};
  return live_children();
}

WindowRecord& Meetings::join_window(int rank, std::size_t index, const Tensor& shard) {
  const std::lock_guard lock(mutex_);
  if (index == windows_.size()) windows_.emplace_back(static_cast<int>(index), world_size_);
  WindowRecord& record = windows_[index];
  WindowSlot& slot = record.slot(rank);
  slot.shard = shard.as<const std::byte>();
  slot.numel = shard.numel();
  slot.dtype = shard.dtype();
  slot.has_come.store(true, std::memory_order_release);
  return record;
}

SplitRecord& Meetings::join_split(int rank, std::size_t index, SplitRequest request, const ThreadGroup& parent) {
  const std::lock_guard lock(mutex_);
  if (index == splits_.size()) splits_.emplace_back(world_size_);
  SplitRecord& record = splits_[index];
  record.slot(rank).request = std::move(request);
  if (++record.num_come == world_size_) make_children(record, parent);
  record.slot(rank).has_come.store(true, std::memory_order_release);
  return record;
}

}  // namespace shoal::threads
