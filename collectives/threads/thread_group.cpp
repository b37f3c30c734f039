#include "shoal/collectives/threads/thread_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "shoal/runtime/device/progress_gate.h"

namespace shoal::threads {

static_assert(sizeof(RingEntry) == 64, "a post is one cache line");

ThreadGroup::ThreadGroup(int size, collectives::CommOptions options, std::string name)
    : options_(std::move(options)), name_(std::move(name)), ranks_(static_cast<std::size_t>(size)), meetings_(size) {
  for (RankState& state : ranks_) state.ring = std::make_unique<RingEntry[]>(kRingEntries);
}

std::chrono::steady_clock::time_point ThreadGroup::now() const {
  return options_.clock ? options_.clock() : std::chrono::steady_clock::now();
}

bool ThreadGroup::has(const Wait& wait, int peer) const {
  constexpr auto kAcquire = std::memory_order_acquire;
  switch (wait.what) {
    case Awaited::Turn:
      return rank(peer).num_posted.load(kAcquire) >= wait.count;
    case Awaited::Post:
      return entry(peer, wait.count).posted.load(kAcquire) > wait.count;
    case Awaited::Reduced:
      return entry(peer, wait.count).reduced.load(kAcquire) > wait.count;
    case Awaited::Room:
    case Awaited::Done:
      return entry(peer, wait.count).done.load(kAcquire) > wait.count;
    case Awaited::Version:
      return wait.window->slot(peer).version.load(kAcquire) >= wait.count;
    case Awaited::GatherTurn:
    case Awaited::Readers:
      return rank(peer).num_gathers_done.load(kAcquire) >= wait.count;
  }
  return false;
}

bool ThreadGroup::has_given_up(const Wait& wait, int peer) const {
  const RankState& state = rank(peer);
  if (!state.has_left.load(std::memory_order_acquire) || has(wait, peer)) return false;
  switch (wait.what) {
    case Awaited::Version:
      return true;
    case Awaited::Readers:
    case Awaited::GatherTurn:
      return state.num_gathers_issued < wait.count;
    default:
      return state.num_issued <= wait.count;
  }
}

std::vector<int> ThreadGroup::find_missing(const Wait& wait) const {
  std::vector<int> missing;
  for (int peer = 0; peer < size(); ++peer) {
    if ((wait.only < 0 || wait.only == peer) && !has(wait, peer)) missing.push_back(peer);
  }
  return missing;
}

std::string ThreadGroup::describe_missing(const Wait& wait) const {
  const std::vector<int> missing = find_missing(wait);
  const std::string who = collectives::describe_ranks(missing);
  const char* have = missing.size() == 1 ? "has" : "have";
  switch (wait.what) {
    case Awaited::Turn:
      return fmt::format("{} {} not started all operations before it, on other streams", who, have);
    case Awaited::Room:
      return fmt::format("{} {} not finished operation {}, too far behind", who, have, wait.count);
    case Awaited::Post:
      return fmt::format("{} {} not reached it", who, have);
    case Awaited::Reduced:
      return fmt::format("{} {} not finished the sum", who, have);
    case Awaited::Done:
      return fmt::format("{} {} not finished reading", who, have);
    case Awaited::Version:
      return fmt::format("{} {} not published version {} of window {}", who, have, wait.count, wait.window->id);
    case Awaited::GatherTurn:
    case Awaited::Readers:
      return fmt::format("{} {} not finished {} window gathers", who, have, wait.count);
  }
  return who;
}

void ThreadGroup::fail(ErrorCode code, std::string text, int rank) {
  failure_.set(code, std::move(text), rank);
  process_gate().notify();
}

void ThreadGroup::abort(const std::string& text, int rank) {
  fail(ErrorCode::Aborted, text, rank);
  for (const auto& child : meetings_.abort(text, rank)) child->abort(text, rank);
}

bool ThreadGroup::is_quiet() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const RankState& state) { return state.busy.is_idle(); });
}

std::uint64_t ThreadGroup::progress() const {
  std::uint64_t sum = 0;
  for (const RankState& state : ranks_) sum += state.progress.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace shoal::threads
