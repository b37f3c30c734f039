#pragma once

#include <chrono>
#include <string>

#include "shoal/runtime/device/host/host_device.h"
#include "shoal/runtime/device/host/stream_queue.h"
#include "shoal/runtime/device/stream.h"

namespace shoal::host {

/// Checks what is enqueued, then runs it or appends it to a queue.
class HostStream final : public Stream {
 public:
  HostStream(HostDevice& device, StreamRole role, std::string name);
  ~HostStream() override;

  void record(Event& event) override;
  void wait(const Event& event) override;
  void copy(void* dst, const void* src, std::int64_t bytes) override;
  void fill(void* dst, std::uint8_t value, std::int64_t bytes) override;
  void run(const char* name, const ByteRanges& reads, const ByteRanges& writes, Task task) override;
  void run_polled(const char* name, const ByteRanges& reads, const ByteRanges& writes, PolledTask task) override;
  using Stream::synchronize;
  void synchronize(std::chrono::milliseconds deadline) override;
  std::exception_ptr error() const override { return queue_->error(); }

 private:
  template <typename Work>
  void enqueue(const char* name, const ByteRanges& reads, const ByteRanges& writes, Work work);
  void wait_for_room(const char* name);
  [[noreturn]] void fail_timeout(const char* call, const std::string& what, std::chrono::milliseconds deadline) const;

  HostDevice* device_;
  StreamQueue* queue_;
  int hazard_id_ = -1;
};

}  // namespace shoal::host
