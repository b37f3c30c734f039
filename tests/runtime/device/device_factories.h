#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "shoal/runtime/device/runtime.h"

namespace shoal::test {

/// A kind of device that runs what is enqueued, for suites that every such device passes.
struct DeviceFactory {
  std::string name;
  std::function<std::unique_ptr<Device>(RuntimeOptions options, int rank)> open;
  friend std::ostream& operator<<(std::ostream& out, const DeviceFactory& factory) { return out << factory.name; }
};

inline DeviceFactory host_workers(int num_threads) {
  return {num_threads == 1 ? "HostInline" : "Host" + std::to_string(num_threads) + "Workers",
          [num_threads](RuntimeOptions options, int rank) {
            options.threads_per_rank = num_threads;
            return Runtime(std::move(options)).open_device(DeviceKind::Host, rank);
          }};
}

inline DeviceFactory host_thread_per_stream() {
  return {"HostThreadPerStream", [](RuntimeOptions options, int rank) {
            options.execution = HostExecution::ThreadPerStream;
            options.delay_seed = 17;
            return Runtime(std::move(options)).open_device(DeviceKind::Host, rank);
          }};
}

/// Every device of this build that runs what is enqueued.
inline std::vector<DeviceFactory> device_factories() {
  return {host_workers(1), host_workers(2), host_workers(3), host_thread_per_stream()};
}

/// Waits until `condition` holds, for at most as long as any test may hang.
template <typename Condition>
bool eventually(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace shoal::test
