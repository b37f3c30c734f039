#include "shoal/runtime/device/runtime.h"

#include <fmt/format.h>

#include <utility>

#include "shoal/runtime/base/deadline.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/cuda_factory.h"
#include "shoal/runtime/device/host/host_device.h"
#include "shoal/runtime/device/sim/sim_device.h"

namespace shoal {

Runtime::Runtime(RuntimeOptions options) : options_(std::move(options)), log_turn_(std::make_shared<std::mutex>()) {
  if (options_.threads_per_rank < 1) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[runtime] threads_per_rank is {}; at least 1", options_.threads_per_rank));
  }
  if (options_.memory_limit_bytes < 0) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[runtime] memory_limit_bytes is {}; 0 or more", options_.memory_limit_bytes));
  }
  if (options_.deadline.count() <= 0 || options_.deadline > kLongestDeadline) {
    fail(ErrorCode::InvalidArgument, fmt::format("[runtime] deadline is {} ms; 1 to {} (a year) can work",
                                                 options_.deadline.count(), kLongestDeadline.count()));
  }
}

std::unique_ptr<Device> Runtime::open_device(DeviceKind kind, int rank) const {
  mark_.check("open_device", "runtime of device", fmt::format("{}", rank));
  switch (kind) {
    case DeviceKind::Host:
      return host::make_host_device(options_, rank);
    case DeviceKind::Cuda:
      return make_cuda_device(options_, rank);
    case DeviceKind::Sim:
      return sim::make_sim_device(options_, rank);
  }
  fail(ErrorCode::InvalidArgument,
       fmt::format("[open_device] no device kind has the value {}", static_cast<int>(kind)));
}

void Runtime::log(LogLevel level, std::string_view text) const {
  if (!options_.log) return;
  const std::lock_guard turn(*log_turn_);
  options_.log(level, text);
}

}  // namespace shoal
