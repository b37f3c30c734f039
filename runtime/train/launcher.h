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
  /// Tells the launcher of the exception that is being handled, as if the body had ended with it. Throws nothing.
  std::function<void()> report_exception = {};
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
/// The first rank that throws aborts its world and whatever was split off it, so that the others end too; that is after
/// its body's objects are gone, so see run_or_abort. The error thrown here is the first of those nearest to the cause
/// (see distance_from_cause); it carries the rank, and its text is unchanged. Exceptions other than Error become
/// Internal (bad_alloc: OutOfMemory). A rank whose thread cannot be started fails with Unsupported.
///
/// Once one rank has ended, or has told of a failure by run_or_abort, all have the runtime's deadline to end. Where one
/// has not, Timeout names it, beginning with "[launch_ranks]": its thread goes on, and keeps what `body` captured by
/// value, its device and its communicator alive. Only ending the process ends it.
void launch_ranks(const Runtime& runtime, const LaunchOptions& options, RankBody body);

/// Runs `body()`; where it throws, tells the launcher, which aborts the rank's world, and throws on. For work while
/// objects exist whose end may take long, or may wait for peers: so that neither they nor the launcher wait for it.
template <typename Body>
void run_or_abort(RankContext& rank, const Body& body) {
  try {
    body();
  } catch (...) {
    rank.report_exception();
    throw;
  }
}

/// Aborts `world`, and whatever was split off it, for the exception that is being handled. Throws nothing.
void abort_after_exception(collectives::Communicator& world);

/// Runs `body()`; where it throws, aborts `world` with the reason and throws on. For work after objects with streams of
/// their own exist: so that peers don't keep this rank from unwinding.
template <typename Body>
void run_or_abort(collectives::Communicator& world, const Body& body) {
  try {
    body();
  } catch (...) {
    abort_after_exception(world);
    throw;
  }
}

}  // namespace shoal::train
