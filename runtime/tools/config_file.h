#pragma once

#include <string>

#include "shoal/runtime/train/train_config.h"

namespace shoal::tools {

/// Sets what the JSON file names: one object whose keys are the flags' names. Throws InvalidArgument, naming the file,
/// where it cannot be read, is no such object, or a key is unknown (with the nearest match).
void read_config_file(const std::string& path, train::TrainConfig& config);

}  // namespace shoal::tools
