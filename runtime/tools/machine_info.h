#pragma once

#include <cstdint>
#include <string>

namespace shoal::tools {

/// What a run's figures depend on.
struct MachineInfo {
  int cores = 0;  // that this process may use
  std::string isa;
  std::int64_t memory_bytes = 0;
};

MachineInfo machine_info();

/// The largest resident size this process has had, in bytes.
std::int64_t peak_resident_bytes();

}  // namespace shoal::tools
