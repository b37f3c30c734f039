#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "shoal/collectives/communicator.h"

namespace shoal::collectives {

struct CommOptions {
  std::chrono::milliseconds deadline{30000};
  /// The clock that deadlines are read from; tests inject their own. Empty: the steady clock.
  std::function<std::chrono::steady_clock::time_point()> clock;
  /// Copies and sums run in pieces of this many bytes, between which the abort flag is polled.
  std::int64_t chunk_bytes = 1 << 20;
};

/// World size 1, no copies.
std::unique_ptr<Communicator> make_single(std::string name = "world");

/// One communicator per rank over threads of this process; element r is for rank r's thread.
/// Throws InvalidArgument for a world size below 1.
std::vector<std::unique_ptr<Communicator>> make_threads(int world_size, const CommOptions& options = {},
                                                        std::string name = "world");

/// Names of the backends in this build: "single", "threads".
std::vector<std::string> backend_names();

}  // namespace shoal::collectives
