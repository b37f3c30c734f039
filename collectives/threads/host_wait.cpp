#include "shoal/collectives/threads/host_wait.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "shoal/runtime/device/progress_gate.h"

namespace shoal::threads {
namespace {

// An injected clock may jump without anybody being notified: look again that often.
constexpr std::chrono::microseconds kLookAgain{1000};

using Clock = std::chrono::steady_clock;

struct Watch {
  std::uint64_t progress;
  Clock::time_point moved_at;
};

void check_stall(const Member& member, const char* operation, const std::vector<int>& missing, Watch& watch) {
  ThreadGroup& group = member.group();
  const auto fail = [&](ErrorCode code, const std::string& what) {
    group.fail(code,
               fmt::format("rank {} of '{}' {} in {}: {} {} not come", member.rank(), group.name(), what, operation,
                           collectives::describe_ranks(missing), missing.size() == 1 ? "has" : "have"),
               member.rank());
  };
  for (const int peer : missing) {
    if (group.rank(peer).has_left.load()) {
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
    check_stall(member, operation, missing, watch);
    if (group.failure().is_set()) group.failure().raise(operation);
    process_gate().wait(ticket, kLookAgain);
  }
}

bool await_quiet_on_host(const ThreadGroup& group) {
  const Clock::time_point give_up_at = Clock::now() + group.options().deadline;
  while (!group.is_quiet()) {
    if (Clock::now() >= give_up_at) return false;
    const std::uint32_t ticket = process_gate().ticket();
    if (!group.is_quiet()) process_gate().wait(ticket, kLookAgain);
  }
  return true;
}

}  // namespace shoal::threads
