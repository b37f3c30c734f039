#pragma once

#include <string>
#include <vector>

#include "shoal/runtime/tools/machine_info.h"

namespace shoal::tools {

/// What this machine and this build have.
struct DoctorReport {
  struct Part {
    std::string name;
    bool is_present = false;
    std::string detail;  // a version, a place, or how to get it
  };

  MachineInfo machine;
  std::vector<Part> gpus;       // their driver first
  std::vector<Part> libraries;  // that it was built with
  std::vector<Part> data;
  std::vector<Part> build;        // devices, backends, dtypes
  std::vector<Part> environment;  // variables that are read
};

}  // namespace shoal::tools
