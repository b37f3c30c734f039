#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "shoal/collectives/factory.h"

namespace shoal::test {

/// One implementation of Communicator, for the conformance tests: they run on every entry of backends().
struct Backend {
  std::string name;
  std::vector<int> worlds;
  /// Element r is for rank r's thread.
  std::function<std::vector<std::unique_ptr<collectives::Communicator>>(int world_size,
                                                                        const collectives::CommOptions& options)>
      make;
};

const std::vector<Backend>& backends();

/// A backend at one world size.
struct BackendWorld {
  const Backend* backend = nullptr;
  int world_size = 1;
};

/// Every backend at every one of its world sizes that is at least `min_world`.
std::vector<BackendWorld> backend_worlds(int min_world = 1);

/// "threads_world_4".
std::string describe(const BackendWorld& world);

}  // namespace shoal::test
