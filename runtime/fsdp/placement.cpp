#include "shoal/runtime/fsdp/placement.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "shoal/runtime/base/int_math.h"
#include "shoal/runtime/fsdp/enqueue_order.h"

namespace shoal::fsdp {
namespace {

enum class Fit { First, Best };

/// Pairs of blocks that one search may look at: about a quarter of a second.
constexpr std::int64_t kSearchPairs = 100'000'000;
constexpr std::int64_t kMaxSearchRounds = 300;

struct PlacedBlock {
  std::int64_t offset;
  std::int64_t end_offset;
  int begin;
  int end;
};

using Order = std::vector<std::size_t>;

std::int64_t held_bytes(const TimedBlock& block) { return round_up(block.bytes, kLeaseAlignment); }
std::int64_t duration(const TimedBlock& block) { return block.end - block.begin + 1; }

/// Places blocks one after the other, each into the lowest or the tightest gap between those that are there already at
/// the same time.
Placement place_in_order(std::span<const TimedBlock> blocks, const Order& order, Fit fit) {
  Placement placement;
  placement.offsets.assign(blocks.size(), 0);
  std::vector<PlacedBlock> placed;  // by offset
  placed.reserve(blocks.size());
  for (const std::size_t index : order) {
    const TimedBlock& block = blocks[index];
    const std::int64_t bytes = held_bytes(block);
    std::int64_t top = 0;
    std::int64_t best = -1;
    std::int64_t best_gap = std::numeric_limits<std::int64_t>::max();
    for (const PlacedBlock& other : placed) {
      if (other.end < block.begin || block.end < other.begin) continue;
      const std::int64_t gap = other.offset - top;
      if (gap >= bytes && gap < best_gap) {
        best = top;
        best_gap = gap;
        if (fit == Fit::First) break;
      }
      top = std::max(top, other.end_offset);
    }
    if (best < 0) best = top;
    const PlacedBlock entry{best, best + bytes, block.begin, block.end};
    const auto at = std::upper_bound(placed.begin(), placed.end(), entry.offset,
                                     [](std::int64_t value, const PlacedBlock& p) { return value < p.offset; });
    placed.insert(at, entry);
    placement.offsets[index] = best;
    placement.arena_bytes = std::max(placement.arena_bytes, entry.end_offset);
  }
  return placement;
}

/// Orders by a key, largest first; equal ones in order of time, then of index.
Order order_by(std::span<const TimedBlock> blocks, const std::function<double(const TimedBlock&)>& key) {
  std::vector<double> keys;
  Order order;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    keys.push_back(key(blocks[i]));
    if (blocks[i].bytes > 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (keys[a] != keys[b]) return keys[a] > keys[b];
    return std::pair(blocks[a].begin, a) < std::pair(blocks[b].begin, b);
  });
  return order;
}

/// The best placement so far, and the order that led to it.
class Search {
 public:
  explicit Search(std::span<const TimedBlock> blocks) : blocks_(blocks), least_(peak_block_bytes(blocks)) {
    best_.offsets.assign(blocks.size(), 0);
    best_.arena_bytes = std::numeric_limits<std::int64_t>::max();
  }

  bool is_optimal() const { return best_.arena_bytes == least_; }

  void try_order(const Order& order, Fit fit) {
    Placement placement = place_in_order(blocks_, order, fit);
    if (placement.arena_bytes >= best_.arena_bytes) return;
    best_ = std::move(placement);
    order_ = order;
    fit_ = fit;
  }

  /// Places what stuck out earlier: the blocks at the top of the arena, the last of them first, move to the front.
  void improve(std::int64_t rounds) {
    Order order = order_;
    Placement placement = best_;
    for (std::int64_t round = 0; round < rounds && !is_optimal(); ++round) {
      const auto sticks_out = [&](std::size_t i) {
        return placement.offsets[i] + held_bytes(blocks_[i]) == placement.arena_bytes;
      };
      const auto last = std::find_if(order.rbegin(), order.rend(), sticks_out);
      const auto at = std::prev(last.base());
      // Half way to the front: far enough to matter, and what is large stays ahead.
      const auto target = order.begin() + (at - order.begin()) / 2;
      if (target == at) break;
      std::rotate(target, at, at + 1);
      placement = place_in_order(blocks_, order, fit_);
      if (placement.arena_bytes < best_.arena_bytes) {
        best_ = placement;
        order_ = order;
      }
    }
  }

  Placement take() { return std::move(best_); }

 private:
  std::span<const TimedBlock> blocks_;
  std::int64_t least_;
  Placement best_;
  Order order_;
  Fit fit_ = Fit::First;
};

}  // namespace

std::int64_t peak_block_bytes(std::span<const TimedBlock> blocks) {
  std::vector<std::pair<int, std::int64_t>> changes;  // at one moment, what begins counts before what ends
  for (const TimedBlock& block : blocks) {
    changes.emplace_back(2 * block.begin, held_bytes(block));
    changes.emplace_back(2 * block.end + 1, -held_bytes(block));
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t live = 0, peak = 0;
  for (const auto& [moment, bytes] : changes) {
    live += bytes;
    peak = std::max(peak, live);
  }
  return peak;
}

Placement place_blocks(std::span<const TimedBlock> blocks) {
  Search search(blocks);
  const auto size = [](const TimedBlock& b) { return static_cast<double>(b.bytes); };
  const auto length = [](const TimedBlock& b) { return static_cast<double>(duration(b)); };
  const auto area = [&](const TimedBlock& b) { return size(b) * length(b); };
  const auto start = [](const TimedBlock& b) { return -static_cast<double>(b.begin); };
  for (const auto& key : std::vector<std::function<double(const TimedBlock&)>>{length, area, size, start}) {
    for (const Fit fit : {Fit::First, Fit::Best}) {
      if (!search.is_optimal()) search.try_order(order_by(blocks, key), fit);
    }
  }
  const auto count = static_cast<std::int64_t>(blocks.size());
  if (count > 0) search.improve(std::min(kMaxSearchRounds, 2 * kSearchPairs / (count * count)));
  return search.take();
}

void place_leases(Plan& plan, const Trace& trace) {
  const EnqueueOrder order = enqueue_order(plan, trace);
  std::vector<TimedBlock> blocks;
  for (std::size_t i = 0; i < plan.leases.size(); ++i) {
    const int lease = static_cast<int>(i);
    blocks.push_back({plan.leases[i].bytes, order.begin_of(plan, lease), order.end_of(plan, lease)});
  }
  // Compute can wait for a reduction only at one of its operations: the bytes stay taken until the next one.
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    if (plan.ops[i].kind != OpKind::Reduce || plan.ops[i].lease < 0) continue;
    std::size_t next = i + 1;
    while (plan.ops[next].stream != StreamRole::Compute) ++next;
    TimedBlock& block = blocks[static_cast<std::size_t>(plan.ops[i].lease)];
    block.end = std::max(block.end, order.of_op[next]);
  }
  Placement placement = place_blocks(blocks);
  for (std::size_t i = 0; i < plan.leases.size(); ++i) plan.leases[i].offset = placement.offsets[i];
  plan.arena_bytes = placement.arena_bytes;
}

}  // namespace shoal::fsdp
