#pragma once

#include <functional>

#include "shoal/collectives/threads/member.h"

namespace shoal::threads {

/// Blocks the host until has_come(peer) for every rank. Throws the group's failure; Timeout, for all members, when
/// nothing has moved for the group's deadline; CommFailure when a rank has left without having come.
void await_on_host(const Member& member, const char* operation, const std::function<bool(int)>& has_come);

/// For a group that has failed: blocks the host until no member is in a loop over peers' memory. Each loop ends after
/// the piece it is at, so this is soon; false where it was not within ten seconds or the group's deadline, in real
/// time, whichever is longer.
bool await_quiet_on_host(const ThreadGroup& group);

/// await_quiet_on_host of the group and of all that were split off it.
bool await_all_quiet_on_host(ThreadGroup& group);

/// Blocks the host until the loops over peers' memory that are running now have ended, whatever begins meanwhile.
/// False where that took longer than the group's deadline, in real time.
bool await_running_loops_on_host(const ThreadGroup& group);

}  // namespace shoal::threads
