#include "shoal/collectives/factory.h"

#include <utility>

#include "shoal/collectives/single/single_communicator.h"
#include "shoal/collectives/threads/threads_communicator.h"

namespace shoal::collectives {

std::unique_ptr<Communicator> make_single(std::string name) { return single::make_communicator(std::move(name)); }

std::vector<std::unique_ptr<Communicator>> make_threads(int world_size, const CommOptions& options, std::string name) {
  return threads::make_communicators(world_size, options, std::move(name));
}

std::vector<std::string> backend_names() { return {"single", "threads"}; }

}  // namespace shoal::collectives
