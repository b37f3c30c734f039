#pragma once

#include <memory>
#include <optional>
#include <string>

#include "shoal/runtime/device/device.h"
#include "shoal/runtime/device/hazard_checker.h"
#include "shoal/runtime/device/host/executor.h"
#include "shoal/runtime/device/runtime.h"

namespace shoal::host {

/// Memory of this process, and streams worked off by the rank's threads.
class HostDevice final : public Device {
 public:
  HostDevice(const RuntimeOptions& options, int rank, std::shared_ptr<Executor> executor);
  ~HostDevice() override;

  std::unique_ptr<Stream> make_stream(StreamRole role, std::string name) override;
  std::unique_ptr<Event> make_event(std::string name) override;

  Executor& executor() { return *executor_; }
  /// Null unless the device checks.
  HazardChecker* hazards() { return hazards_ ? &*hazards_ : nullptr; }
  int rank() const { return rank_; }

 protected:
  void* allocate_bytes(std::int64_t bytes) override;
  void free_bytes(void* data, std::int64_t bytes) noexcept override;

 private:
  int rank_;
  std::shared_ptr<Executor> executor_;
  std::optional<HazardChecker> hazards_;
};

std::unique_ptr<Device> make_host_device(const RuntimeOptions& options, int rank);

}  // namespace shoal::host
