#pragma once

#include <functional>

#include "shoal/collectives/threads/member.h"

namespace shoal::threads {

/// Blocks the host until has_come(peer) for every rank. Throws the group's failure; Timeout, for all members, when
/// nothing has moved for the group's deadline; CommFailure when a rank has left without having come.
void await_on_host(const Member& member, const char* operation, const std::function<bool(int)>& has_come);

/// Blocks the host, for at most the group's deadline in real time, until no member is in a loop over peers' memory.
/// False when it ran out. Within a call only the loops in progress are waited for where the group has failed.
bool await_quiet_on_host(const ThreadGroup& group);

}  // namespace shoal::threads
