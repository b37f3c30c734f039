#pragma once

#include <chrono>
#include <string>

#include "shoal/runtime/device/hazard_checker.h"
#include "shoal/runtime/device/sim/sim_device.h"
#include "shoal/runtime/device/stream.h"

namespace shoal::sim {

/// Nothing runs, so a point on a stream has passed as soon as it is recorded.
class SimEvent final : public Event {
 public:
  SimEvent(Device& device, std::string name) : Event(device, std::move(name)) {}
  bool is_complete() const override { return is_recorded; }

  // Set by SimStream::record.
  bool is_recorded = false;
  HazardChecker::Clock clock;
};

class SimStream final : public Stream {
 public:
  SimStream(SimDevice& device, StreamRole role, std::string name);
  ~SimStream() override;

  void record(Event& event) override;
  void wait(const Event& event) override;
  void copy(void* dst, const void* src, std::int64_t bytes) override;
  void fill(void* dst, std::uint8_t value, std::int64_t bytes) override;
  void run(const char* name, const ByteRanges& reads, const ByteRanges& writes, Task task) override;
  void run_polled(const char* name, const ByteRanges& reads, const ByteRanges& writes, PolledTask task) override;
  using Stream::synchronize;
  void synchronize(std::chrono::milliseconds deadline) override;
  std::exception_ptr error() const override { return nullptr; }

 private:
  void enqueue(const char* name, const ByteRanges& reads, const ByteRanges& writes);

  SimDevice* device_;
  int hazard_id_ = -1;
};

}  // namespace shoal::sim
