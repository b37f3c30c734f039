#include "shoal/runtime/device/sim/sim_stream.h"

#include <utility>

#include "shoal/runtime/device/stream_checks.h"

namespace shoal::sim {

SimStream::SimStream(SimDevice& device, StreamRole role, std::string name)
    : Stream(device, role, std::move(name)), device_(&device) {
  if (HazardChecker* hazards = device.hazards()) hazard_id_ = hazards->add_stream(this->name());
}

SimStream::~SimStream() {
  if (HazardChecker* hazards = device_->hazards()) hazards->retire_stream(hazard_id_);
}

void SimStream::record(Event& event) {
  device_->check_process("record");
  check_event_device(*this, event, "record");
  auto& sim_event = static_cast<SimEvent&>(event);
  sim_event.is_recorded = true;
  if (const HazardChecker* hazards = device_->hazards()) hazards->record(hazard_id_, sim_event.clock);
}

void SimStream::wait(const Event& event) {
  device_->check_process("wait");
  check_event_device(*this, event, "wait");
  const auto& sim_event = static_cast<const SimEvent&>(event);
  check_event_recorded(*this, event, sim_event.is_recorded);
  if (HazardChecker* hazards = device_->hazards()) hazards->wait(hazard_id_, sim_event.clock);
}

void SimStream::copy(void* dst, const void* src, std::int64_t bytes) {
  check_copy(*this, dst, src, bytes);
  if (bytes > 0) enqueue("copy", {{src, bytes}}, {{dst, bytes}});
}

void SimStream::fill(void* dst, std::uint8_t /*value*/, std::int64_t bytes) {
  check_fill(*this, dst, bytes);
  if (bytes > 0) enqueue("fill", {}, {{dst, bytes}});
}

void SimStream::run(const char* name, const ByteRanges& reads, const ByteRanges& writes, Task /*task*/) {
  enqueue(name, reads, writes);
}

void SimStream::run_polled(const char* name, const ByteRanges& reads, const ByteRanges& writes, PolledTask /*task*/) {
  enqueue(name, reads, writes);
}

void SimStream::synchronize(std::chrono::milliseconds /*deadline*/) {
  device_->check_process("synchronize");
  device_->ledger().check();
  if (HazardChecker* hazards = device_->hazards()) hazards->host_synchronize(hazard_id_);
}

void SimStream::enqueue(const char* name, const ByteRanges& reads, const ByteRanges& writes) {
  device_->check_process(name);
  if (HazardChecker* hazards = device_->hazards()) hazards->run(hazard_id_, name, device_->scope(), reads, writes);
  if (device_->operation_sink()) device_->operation_sink()(*this, name, reads, writes);
}

}  // namespace shoal::sim
