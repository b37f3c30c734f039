#include "shoal/runtime/fsdp/placement.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <random>

#include "shoal/runtime/base/int_math.h"
#include "shoal/runtime/fsdp/enqueue_order.h"

namespace shoal::fsdp {
namespace {

enum class Fit { First, Best };

/// Pairs of blocks that one search may look at, in at most so many rounds: a tenth of a second or two.
constexpr std::int64_t kSearchPairs = 50'000'000;
constexpr std::int64_t kMaxSearchRounds = 1000;
/// A search stops at this fraction of waste.
constexpr std::int64_t kGoodEnough = 1000;
/// It may step back to an arena larger by this fraction, every so many rounds.
constexpr std::int64_t kStepBack = 100;
constexpr std::int64_t kRoundsPerStepBack = 7;

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
/// the same time. Gives up where that takes more than `limit` bytes.
std::optional<Placement> place_in_order(std::span<const TimedBlock> blocks, const Order& order, Fit fit,
                                        std::int64_t limit) {
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
    if (best + bytes > limit) return std::nullopt;
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

  bool is_good_enough() const { return best_.arena_bytes <= least_ + least_ / kGoodEnough; }

  void try_order(const Order& order, Fit fit) {
    std::optional<Placement> placement = place_in_order(blocks_, order, fit, best_.arena_bytes - 1);
    if (!placement) return;
    best_ = std::move(*placement);
    order_ = order;
    fit_ = fit;
  }

  /// Changes the order of what decides the arena's size: a block of a column that reaches to its top, and one that is
  /// needed at the same time. Keeps what is no worse, and now and then what is a little worse. (As the hill climbing
  /// of Arm's Vela compiler.) The same blocks always meet the same choices.
  void improve(std::int64_t rounds) {
    std::minstd_rand random;
    Order order = order_;
    Placement current = best_;
    for (std::int64_t round = 0; round < rounds && !is_good_enough(); ++round) {
      const Order column = find_column(order, current);
      const std::size_t block = column[random() % column.size()];
      const std::vector<std::ptrdiff_t> beside = find_beside(order, block);
      if (beside.empty()) continue;
      const auto at = std::find(order.begin(), order.end(), block) - order.begin();
      const std::ptrdiff_t other = beside[random() % beside.size()];
      Order changed = order;
      const auto begin = changed.begin();
      if (round % 2 == 0) {
        std::swap(begin[at], begin[other]);
      } else if (other < at) {
        std::rotate(begin + other, begin + at, begin + at + 1);
      } else {
        std::rotate(begin + at, begin + at + 1, begin + other + 1);
      }
      const std::int64_t slack = round % kRoundsPerStepBack == 0 ? current.arena_bytes / kStepBack : 0;
      std::optional<Placement> placement = place_in_order(blocks_, changed, fit_, current.arena_bytes + slack);
      if (!placement) continue;
      current = std::move(*placement);
      order = std::move(changed);
      if (current.arena_bytes < best_.arena_bytes) best_ = current;
    }
  }

  Placement take() { return std::move(best_); }

 private:
  bool meet(std::size_t a, std::size_t b) const {
    return blocks_[a].begin <= blocks_[b].end && blocks_[b].begin <= blocks_[a].end;
  }

  /// Blocks that lie on one another from the top of the arena downwards, each needed while the next is.
  Order find_column(const Order& order, const Placement& placement) const {
    Order column;
    std::int64_t top = placement.arena_bytes;
    while (top > 0) {
      const auto below = std::find_if(order.begin(), order.end(), [&](std::size_t i) {
        return placement.offsets[i] + held_bytes(blocks_[i]) == top && (column.empty() || meet(i, column.back()));
      });
      if (below == order.end()) break;
      column.push_back(*below);
      top = placement.offsets[*below];
    }
    return column;
  }

  /// Where in the order the blocks are that are needed while this one is.
  std::vector<std::ptrdiff_t> find_beside(const Order& order, std::size_t block) const {
    std::vector<std::ptrdiff_t> places;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (order[i] != block && meet(order[i], block)) places.push_back(static_cast<std::ptrdiff_t>(i));
    }
    return places;
  }

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
      if (!search.is_good_enough()) search.try_order(order_by(blocks, key), fit);
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
