#include "shoal/runtime/tools/machine_info.h"

#include <sys/resource.h>
#include <unistd.h>

#include <thread>

#include "shoal/kernels/isa.h"

namespace shoal::tools {

MachineInfo machine_info() {
  MachineInfo info;
  info.cores = static_cast<int>(std::thread::hardware_concurrency());
  info.isa = kernels::isa_name();
  info.memory_bytes = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  return info;
}

std::int64_t peak_resident_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;  // Linux counts in KiB
}

}  // namespace shoal::tools
