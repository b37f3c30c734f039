#include "shoal/runtime/device/host/host_device.h"

#include <fmt/format.h>

#include <cstring>
#include <new>
#include <utility>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/host/host_event.h"
#include "shoal/runtime/device/host/host_stream.h"
#include "shoal/runtime/device/host/stream_threads.h"
#include "shoal/runtime/device/host/worker_pool.h"

namespace shoal::host {
namespace {

constexpr std::int64_t kLargeBytes = 1 << 20;

// Large blocks start on a page of their own.
std::align_val_t alignment(std::int64_t bytes) { return std::align_val_t{bytes >= kLargeBytes ? 4096U : 64U}; }

}  // namespace

HostDevice::HostDevice(const RuntimeOptions& options, int rank, std::shared_ptr<Executor> executor)
    : Device(DeviceKind::Host, fmt::format("host:{}", rank), executor->num_workers(), options.memory_limit_bytes,
             options.deadline),
      rank_(rank),
      executor_(std::move(executor)) {
  if (options.check_hazards) hazards_.emplace();
}

HostDevice::~HostDevice() {
  // In a forked child the threads do not exist, and nothing may wait for them; what they share stays as it is.
  if (!is_forked_copy()) executor_->stop(default_deadline());
}

std::unique_ptr<Stream> HostDevice::make_stream(StreamRole role, std::string name) {
  check_process("make_stream");
  return std::make_unique<HostStream>(*this, role, std::move(name));
}

std::unique_ptr<Event> HostDevice::make_event(std::string name) {
  check_process("make_event");
  return std::make_unique<HostEvent>(*this, std::move(name));
}

void* HostDevice::allocate_bytes(std::int64_t bytes) {
  void* data = ::operator new(static_cast<std::size_t>(bytes), alignment(bytes), std::nothrow);
  if (data == nullptr) {
    fail(ErrorCode::OutOfMemory, fmt::format("[allocate] the system has no {} bytes for device '{}'; hold less\n{}",
                                             bytes, name(), ledger().to_table()));
  }
  if (hazards_) {
    hazards_->forget(data, bytes);
    std::memset(data, 0xff, static_cast<std::size_t>(bytes));  // every float type reads this as NaN
  }
  return data;
}

void HostDevice::free_bytes(void* data, std::int64_t bytes) noexcept {
  if (hazards_) hazards_->forget(data, bytes);
  if (executor_->is_abandoned()) return;  // a thread stuck in an operation may still touch it
  ::operator delete(data, alignment(bytes));
}

std::unique_ptr<Device> make_host_device(const RuntimeOptions& options, int rank) {
  std::shared_ptr<Executor> executor;
  if (options.execution == HostExecution::ThreadPerStream) {
    executor = std::make_shared<StreamThreads>(options.delay_seed);
  } else {
    executor = WorkerPool::make(options.threads_per_rank);
  }
  return std::make_unique<HostDevice>(options, rank, std::move(executor));
}

}  // namespace shoal::host
