#pragma once

#include <memory>
#include <string>

#include "shoal/collectives/communicator.h"

namespace shoal::single {

/// See collectives::make_single.
std::unique_ptr<collectives::Communicator> make_communicator(std::string name);

}  // namespace shoal::single
