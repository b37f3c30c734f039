#include "shoal/runtime/device/host/host_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "shoal/runtime/base/deadline.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/host/host_event.h"
#include "shoal/runtime/device/stream_checks.h"

namespace shoal::host {

HostStream::HostStream(HostDevice& device, StreamRole role, std::string name)
    : Stream(device, role, std::move(name)), device_(&device), queue_(&device.executor().open(role, this->name())) {
  if (HazardChecker* hazards = device.hazards()) hazard_id_ = hazards->add_stream(this->name());
}

HostStream::~HostStream() {
  if (device_->is_forked_copy()) return;  // the threads are the parent's
  device_->executor().close(*queue_, device_->default_deadline());
  if (HazardChecker* hazards = device_->hazards()) hazards->retire_stream(hazard_id_);
}

void HostStream::record(Event& event) {
  device_->check_process("record");
  check_event_device(*this, event, "record");
  auto& host_event = static_cast<HostEvent&>(event);
  host_event.queue = queue_;
  host_event.position = queue_->enqueued();
  if (const HazardChecker* hazards = device_->hazards()) hazards->record(hazard_id_, host_event.clock);
}

void HostStream::wait(const Event& event) {
  device_->check_process("wait");
  check_event_device(*this, event, "wait");
  const auto& host_event = static_cast<const HostEvent&>(event);
  check_event_recorded(*this, event, host_event.queue != nullptr);
  if (HazardChecker* hazards = device_->hazards()) hazards->wait(hazard_id_, host_event.clock);
  StreamQueue& awaited = *host_event.queue;
  if (&awaited == queue_) return;
  if (queue_->is_known_empty() && awaited.completed() >= host_event.position &&
      !awaited.has_failed_before(host_event.position)) {
    return;
  }
  enqueue("wait", {}, {}, WaitWork(awaited, host_event.position));
}

void HostStream::copy(void* dst, const void* src, std::int64_t bytes) {
  check_copy(*this, dst, src, bytes);
  if (bytes == 0) return;
  enqueue("copy", {{src, bytes}}, {{dst, bytes}}, CopyWork{dst, src, bytes});
}

void HostStream::fill(void* dst, std::uint8_t value, std::int64_t bytes) {
  check_fill(*this, dst, bytes);
  if (bytes == 0) return;
  enqueue("fill", {}, {{dst, bytes}}, FillWork{dst, bytes, value});
}

void HostStream::run(const char* name, const ByteRanges& reads, const ByteRanges& writes, Task task) {
  enqueue(name, reads, writes, std::move(task));
}

void HostStream::run_polled(const char* name, const ByteRanges& reads, const ByteRanges& writes, PolledTask task) {
  enqueue(name, reads, writes, std::move(task));
}

template <typename Work>
void HostStream::enqueue(const char* name, const ByteRanges& reads, const ByteRanges& writes, Work work) {
  device_->check_process(name);
  if (HazardChecker* hazards = device_->hazards()) hazards->run(hazard_id_, name, device_->scope(), reads, writes);
  Executor& executor = device_->executor();
  bool is_declared = false;
  if (Workers* workers = executor.begin_inline(*queue_)) {
    const bool is_done = queue_->run_inline(work, reads, writes, *workers);
    executor.end_inline(*queue_);
    if (is_done) return;
    is_declared = true;
  }
  while (queue_->is_full()) wait_for_room(name);
  queue_->push(name, device_->scope(), is_declared ? nullptr : &reads, is_declared ? nullptr : &writes,
               std::move(work));
  executor.pushed(*queue_);
}

void HostStream::wait_for_room(const char* name) {
  const std::uint64_t one_passed = queue_->enqueued() - StreamQueue::kCapacity + 1;
  if (device_->executor().work_until(*queue_, one_passed, device_->default_deadline())) return;
  fail_timeout(name, "found no room", device_->default_deadline());
}

void HostStream::synchronize(std::chrono::milliseconds deadline) {
  device_->check_process("synchronize");
  deadline = std::min(deadline, kLongestDeadline);
  if (!device_->executor().work_until(*queue_, queue_->enqueued(), deadline)) {
    fail_timeout("synchronize", "did not end", deadline);
  }
  if (HazardChecker* hazards = device_->hazards()) hazards->host_synchronize(hazard_id_);
  if (const std::exception_ptr error = queue_->error()) std::rethrow_exception(error);
  device_->ledger().check();
}

void HostStream::fail_timeout(const char* call, const std::string& what, std::chrono::milliseconds deadline) const {
  throw Error(ErrorCode::Timeout,
              fmt::format("[{}] stream '{}' of device '{}' {}: nothing moved for {} ms; at its head is {}", call,
                          name(), device_->name(), what, deadline.count(), queue_->describe_head()),
              device_->rank());
}

}  // namespace shoal::host
