#include "shoal/collectives/threads/host_wait.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "shoal/runtime/device/progress_gate.h"

namespace shoal::threads {
namespace {

// An injected clock may jump without anybody being notified: look again that often.
constexpr std::chrono::microseconds kLookAgain{1000};

// What a thread may need for one piece of a copy where the machine lets it hardly run.
constexpr std::chrono::seconds kLongestPiece{10};

using Clock = std::chrono::steady_clock;

struct Watch {
  std::uint64_t progress;
  Clock::time_point moved_at;
};

/// `missing` had not come when they were looked at.
void check_stall(const Member& member, const char* operation, const std::vector<int>& missing,
                 const std::function<bool(int)>& has_come, Watch& watch) {
  ThreadGroup& group = member.group();
  const auto fail = [&](ErrorCode code, const std::string& what) {
    group.fail(code,
               fmt::format("rank {} of '{}' {} in {}: {} {} not come", member.rank(), group.name(), what, operation,
                           collectives::describe_ranks(missing), missing.size() == 1 ? "has" : "have"),
               member.rank());
  };
  for (const int peer : missing) {
    // One that has come and left since was not missed.
    if (group.rank(peer).has_left.load() && !has_come(peer)) {
      fail(ErrorCode::CommFailure,
           fmt::format("misses rank {}, which has left (its communicator is destroyed),", peer));
    }
  }
  const std::uint64_t progress = group.progress();
  const Clock::time_point now = group.now();
  if (progress != watch.progress) watch = {progress, now};
  if (now - watch.moved_at >= group.options().deadline) {
    fail(ErrorCode::Timeout, fmt::format("timed out after {} ms without progress", group.options().deadline.count()));
  }
}

/// Blocks the host until `condition`, for at most `longest` in real time.
template <typename Condition>
bool wait_until(std::chrono::milliseconds longest, const Condition& condition) {
  const Clock::time_point give_up_at = Clock::now() + longest;
  while (true) {
    const std::uint32_t ticket = process_gate().ticket();
    if (condition()) return true;
    if (Clock::now() >= give_up_at) return false;
    process_gate().wait(ticket, kLookAgain);
  }
}

}  // namespace

void await_on_host(const Member& member, const char* operation, const std::function<bool(int)>& has_come) {
  ThreadGroup& group = member.group();
  Watch watch{group.progress(), group.now()};
  while (true) {
    const std::uint32_t ticket = process_gate().ticket();
    std::vector<int> missing;
    for (int peer = 0; peer < member.size(); ++peer) {
      if (!has_come(peer)) missing.push_back(peer);
    }
    if (missing.empty()) return;
    check_stall(member, operation, missing, has_come, watch);
    if (group.failure().is_set()) group.failure().raise(operation);
    process_gate().wait(ticket, kLookAgain);
  }
}

bool await_quiet_on_host(const ThreadGroup& group) {
  const auto longest = std::max<std::chrono::milliseconds>(group.options().deadline, kLongestPiece);
  return group.is_forked_copy() || wait_until(longest, [&] { return group.is_quiet(); });
}

bool await_all_quiet_on_host(ThreadGroup& group) {
  const auto children = group.meetings().children();
  return await_quiet_on_host(group) && std::all_of(children.begin(), children.end(),
                                                   [](const auto& child) { return await_all_quiet_on_host(*child); });
}

bool await_running_loops_on_host(const ThreadGroup& group) {
  if (group.is_forked_copy()) return true;
  const Clock::time_point give_up_at = Clock::now() + group.options().deadline;
  for (int rank = 0; rank < group.size(); ++rank) {
    const BusyCount& busy = group.rank(rank).busy;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(give_up_at - Clock::now());
    const auto have_ended = [&busy, look = busy.look()] { return busy.has_been_idle_since(look); };
    if (!wait_until(left, have_ended)) return false;
  }
  return true;
}

}  // namespace shoal::threads
