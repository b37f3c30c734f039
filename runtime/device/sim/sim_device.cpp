#include "shoal/runtime/device/sim/sim_device.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/sim/sim_stream.h"

namespace shoal {

void set_operation_sink(Device& sim, OperationSink sink) {
  if (sim.kind() != DeviceKind::Sim) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[set_operation_sink] device '{}' runs its operations; only a sim device tells them", sim.name()));
  }
  static_cast<sim::SimDevice&>(sim).set_operation_sink(std::move(sink));
}

namespace sim {
namespace {

// Far from null and from what a process gets: reading it faults instead of finding something.
constexpr std::uintptr_t kFirstAddress = std::uintptr_t{1} << 56;
constexpr std::uintptr_t kAlignBytes = 64;

}  // namespace

SimDevice::SimDevice(const RuntimeOptions& options, int rank)
    : Device(DeviceKind::Sim, fmt::format("sim:{}", rank), options.threads_per_rank, options.memory_limit_bytes,
             options.deadline),
      next_address_(kFirstAddress) {
  if (options.check_hazards) hazards_.emplace();
}

std::unique_ptr<Stream> SimDevice::make_stream(StreamRole role, std::string name) {
  check_process("make_stream");
  return std::make_unique<SimStream>(*this, role, std::move(name));
}

std::unique_ptr<Event> SimDevice::make_event(std::string name) {
  check_process("make_event");
  return std::make_unique<SimEvent>(*this, std::move(name));
}

// Addresses never come back, so that an address tells which allocation it belonged to.
void* SimDevice::allocate_bytes(std::int64_t bytes) {
  const std::uintptr_t address = next_address_;
  const std::uintptr_t room = std::numeric_limits<std::uintptr_t>::max() - address;
  const std::uintptr_t size = (static_cast<std::uintptr_t>(bytes) + kAlignBytes - 1) / kAlignBytes * kAlignBytes;
  if (size > room) {
    fail(ErrorCode::OutOfMemory, fmt::format("[allocate] {} bytes more on device '{}' than it has addresses left; "
                                             "open another one",
                                             bytes, name()));
  }
  next_address_ += size;
  return reinterpret_cast<void*>(address);
}

void SimDevice::free_bytes(void* data, std::int64_t bytes) noexcept {
  if (hazards_) hazards_->forget(data, bytes);
}

std::unique_ptr<Device> make_sim_device(const RuntimeOptions& options, int rank) {
  return std::make_unique<SimDevice>(options, rank);
}

}  // namespace sim
}  // namespace shoal
