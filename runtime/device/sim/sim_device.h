#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "shoal/runtime/device/device.h"
#include "shoal/runtime/device/hazard_checker.h"
#include "shoal/runtime/device/operation_sink.h"
#include "shoal/runtime/device/runtime.h"

namespace shoal::sim {

/// Addresses without memory and streams that run nothing. What is enqueued is checked and told to the sink.
class SimDevice final : public Device {
 public:
  SimDevice(const RuntimeOptions& options, int rank);

  std::unique_ptr<Stream> make_stream(StreamRole role, std::string name) override;
  std::unique_ptr<Event> make_event(std::string name) override;

  void set_operation_sink(OperationSink sink) { sink_ = std::move(sink); }
  const OperationSink& operation_sink() const { return sink_; }
  HazardChecker* hazards() { return hazards_ ? &*hazards_ : nullptr; }

 protected:
  void* allocate_bytes(std::int64_t bytes) override;
  void free_bytes(void* data, std::int64_t bytes) noexcept override;

 private:
  std::uintptr_t next_address_;
  OperationSink sink_;
  std::optional<HazardChecker> hazards_;
};

std::unique_ptr<Device> make_sim_device(const RuntimeOptions& options, int rank);

}  // namespace shoal::sim
