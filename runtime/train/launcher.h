#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "shoal/collectives/communicator.h"
#include "shoal/runtime/device/runtime.h"

namespace shoal::train {

/// What a rank's body works with; lives as long as the body runs.
struct RankContext {
  int rank = 0;
  int world_size = 1;
  Device& device;
  collectives::Communicator& world;
  const Runtime& runtime;
};
using RankBody = std::function<void(RankContext&)>;

struct LaunchOptions {
  int num_ranks = 1;
  std::string backend = "threads";  // "single" or "threads"
  DeviceKind device = DeviceKind::Host;
};

/// One communicator per rank. Throws InvalidArgument for fewer than one rank, an unknown backend (with the nearest
/// match), or `single` for more than one rank.
std::vector<std::unique_ptr<collectives::Communicator>> make_communicators(const std::string& backend, int num_ranks,
                                                                           std::chrono::milliseconds deadline);

/// Runs `body` once per rank, each on a thread of its own with a device of its own, and returns when all have ended.
///
/// The first rank that throws aborts the communicators, so that the others end too. The error thrown here is the first
/// that is not merely such an Aborted; it carries the rank, and its text is unchanged. Exceptions other than Error
/// become Internal (bad_alloc: OutOfMemory).
///
/// Once one rank has ended, the others have the runtime's deadline to do so. Where one has not, Timeout names it,
/// beginning with "[launch_ranks]": its thread goes on, and keeps what `body` captured by value, its device and its
/// communicator alive. Only ending the process ends it.
void launch_ranks(const Runtime& runtime, const LaunchOptions& options, RankBody body);

/// Runs `body()`; where it throws, aborts `world` with the reason and throws on. For work after objects with streams of
/// their own exist: so that peers don't keep this rank from unwinding.
template <typename Body>
void run_or_abort(collectives::Communicator& world, const Body& body) {
  try {
    body();
  } catch (const std::exception& error) {
    world.abort(error.what());
    throw;
  }
}

}  // namespace shoal::train
