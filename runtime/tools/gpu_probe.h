#pragma once

#include <string>
#include <vector>

#include "shoal/runtime/tools/doctor_report.h"

namespace shoal::tools {

/// Where NVIDIA's kernel driver tells about itself.
inline constexpr const char* kNvidiaFolder = "/proc/driver/nvidia";

/// The driver with its version, and each GPU with its model, by bus address; where no driver is loaded, one absent part
/// that says so. Reads `folder`, nothing else.
std::vector<DoctorReport::Part> find_gpus(const std::string& folder);

}  // namespace shoal::tools
