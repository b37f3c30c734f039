#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "shoal/collectives/factory.h"

namespace shoal::threads {

class ThreadGroup;

/// One rank's shard of a window.
struct alignas(64) WindowSlot {
  std::atomic<std::uint64_t> version{0};
  std::atomic<bool> has_come{false};  // the fields below hold
  const std::byte* shard = nullptr;
  std::int64_t numel = 0;
  DType dtype = DType::F32;
};

struct WindowRecord {
  WindowRecord(int id, int world_size) : id(id), slots(static_cast<std::size_t>(world_size)) {}
  const WindowSlot& slot(int rank) const { return slots[static_cast<std::size_t>(rank)]; }
  WindowSlot& slot(int rank) { return slots[static_cast<std::size_t>(rank)]; }

  int id;
  std::vector<WindowSlot> slots;
};

struct SplitRequest {
  int color = 0;
  int key = 0;
  std::string name;
};

/// One rank's part in a split, and what it gets from it.
struct SplitSlot {
  std::atomic<bool> has_come{false};
  SplitRequest request;
  std::shared_ptr<ThreadGroup> child;
  int child_rank = -1;
};

struct SplitRecord {
  explicit SplitRecord(int world_size) : slots(static_cast<std::size_t>(world_size)) {}
  SplitSlot& slot(int rank) { return slots[static_cast<std::size_t>(rank)]; }

  int num_come = 0;
  std::vector<SplitSlot> slots;
};

/// Where ranks meet on the host, outside streams: under a lock, never on the path of an operation. The n-th call of
/// each rank belongs to the n-th meeting of its kind. Records stay where they are.
class Meetings {
 public:
  explicit Meetings(int world_size) : world_size_(world_size) {}

  /// Enters rank `rank`'s shard.
  WindowRecord& join_window(int rank, std::size_t index, const Tensor& shard);

  /// Enters rank `rank`'s request; whoever comes last makes the children, of groups like `parent`.
  SplitRecord& join_split(int rank, std::size_t index, SplitRequest request, const ThreadGroup& parent);

  /// The groups that were made here and still exist. Those that are made later are aborted at once.
  std::vector<std::shared_ptr<ThreadGroup>> abort(const std::string& text, int rank);
  std::vector<std::shared_ptr<ThreadGroup>> children();

 private:
  struct Abort {
    std::string text;
    int rank = -1;
  };

  void make_children(SplitRecord& record, const ThreadGroup& parent);
  std::vector<std::shared_ptr<ThreadGroup>> live_children() const;

  int world_size_;
  std::mutex mutex_;
  std::deque<WindowRecord> windows_;
  std::deque<SplitRecord> splits_;
  std::vector<std::weak_ptr<ThreadGroup>> children_;
  std::optional<Abort> abort_;
};

}  // namespace shoal::threads
