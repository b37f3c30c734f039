#pragma once

#include <chrono>
#include <functional>

#include "shoal/runtime/device/device.h"
#include "shoal/runtime/device/runtime.h"

namespace shoal::test {

/// Runs body(rank, device) on `world_size` threads at once, each with a host device of its own from one Runtime with
/// `options`. Returns when all have ended, and rethrows what went wrong first: an error of a body's own rather than a
/// CommFailure, Timeout or Aborted, which are how other ranks learn of it. Where a body has not ended after `watchdog`,
/// says which ranks those are on stderr and ends the program, since their threads cannot be stopped.
void run_ranks(int world_size, const RuntimeOptions& options, const std::function<void(int rank, Device& device)>& body,
               std::chrono::seconds watchdog = std::chrono::seconds(120));

/// run_ranks with default options.
void run_ranks(int world_size, const std::function<void(int rank, Device& device)>& body);

}  // namespace shoal::test
