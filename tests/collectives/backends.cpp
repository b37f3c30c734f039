#include "shoal/tests/collectives/backends.h"

namespace shoal::test {
namespace {

std::vector<std::unique_ptr<collectives::Communicator>> make_single(int /*world_size*/,
                                                                    const collectives::CommOptions& /*options*/) {
  std::vector<std::unique_ptr<collectives::Communicator>> communicators;
  communicators.push_back(collectives::make_single());
  return communicators;
}

std::vector<std::unique_ptr<collectives::Communicator>> make_threads(int world_size,
                                                                     const collectives::CommOptions& options) {
  return collectives::make_threads(world_size, options);
}

}  // namespace

const std::vector<Backend>& backends() {
  static const std::vector<Backend> all = {
      {"single", {1}, make_single},
      {"threads", {1, 2, 3, 4, 7}, make_threads},
  };
  return all;
}

std::vector<BackendWorld> backend_worlds(int min_world) {
  std::vector<BackendWorld> worlds;
  for (const Backend& backend : backends()) {
    for (const int world_size : backend.worlds) {
      if (world_size >= min_world) worlds.push_back({&backend, world_size});
    }
  }
  return worlds;
}

std::string describe(const BackendWorld& world) {
  return world.backend->name + "_world_" + std::to_string(world.world_size);
}

}  // namespace shoal::test
