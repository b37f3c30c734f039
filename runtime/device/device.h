#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "shoal/runtime/device/buffer.h"
#include "shoal/runtime/device/event.h"
#include "shoal/runtime/device/memory_ledger.h"
#include "shoal/runtime/device/process_mark.h"
#include "shoal/runtime/device/stream.h"

namespace shoal {

/// host: queues worked off by the rank's threads. cuda: CUDA streams. sim: shapes only, nothing stored or computed.
enum class DeviceKind { Host, Cuda, Sim };

/// One rank's device: makes streams, events and buffers, and accounts for memory by tag.
/// Used from the rank's thread only. Outlives what it made.
class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  DeviceKind kind() const { return kind_; }
  const std::string& name() const { return name_; }

  virtual std::unique_ptr<Stream> make_stream(StreamRole role, std::string name) = 0;
  virtual std::unique_ptr<Event> make_event(std::string name) = 0;

  /// `bytes` bytes aligned to 64, counted under `tag`; contents are undefined (poisoned with 0xff on a checking device:
  /// NaN). 0 bytes give an empty buffer. Throws OutOfMemory, with the ledger's table, beyond the memory limit.
  Buffer allocate(std::int64_t bytes, MemoryTag tag);

  /// Memory that the caller parcels out and counts itself (the arena). Counts towards the memory limit, not towards a
  /// tag.
  Buffer reserve(std::int64_t bytes);

  MemoryLedger& ledger() { return ledger_; }
  /// Bytes handed out by `reserve` and still held.
  std::int64_t reserved_bytes() const { return reserved_bytes_; }

  /// Throws Internal, naming `call`, in a forked child of the process that opened the device. Every call of the device
  /// and of its streams does this first.
  void check_process(const char* call) const { mark_.check(call, "device", name_); }
  bool is_forked_copy() const { return mark_.is_forked_copy(); }

  /// Host threads that a task may use (Workers::count()).
  int num_workers() const { return num_workers_; }
  std::chrono::milliseconds default_deadline() const { return default_deadline_; }

  /// A label for operations enqueued from now on, for messages ("block.3"); must outlive the device. Null clears it.
  void set_scope(const char* scope) { scope_ = scope; }
  const char* scope() const { return scope_; }

 protected:
  Device(DeviceKind kind, std::string name, int num_workers, std::int64_t memory_limit_bytes,
         std::chrono::milliseconds default_deadline)
      : kind_(kind),
        name_(std::move(name)),
        num_workers_(num_workers),
        memory_limit_bytes_(memory_limit_bytes),
        default_deadline_(default_deadline) {}

  virtual void* allocate_bytes(std::int64_t bytes) = 0;
  virtual void free_bytes(void* data, std::int64_t bytes) noexcept = 0;

 private:
  friend class Buffer;
  void check_limit(std::int64_t bytes);
  void give_back(const Buffer& buffer) noexcept;

  DeviceKind kind_;
  std::string name_;
  ProcessMark mark_;
  MemoryLedger ledger_;
  std::int64_t reserved_bytes_ = 0;
  std::int64_t allocated_bytes_ = 0;  // by `allocate`; the ledger's total also holds what an arena parcels out
  int num_workers_;
  std::int64_t memory_limit_bytes_;
  std::chrono::milliseconds default_deadline_;
  const char* scope_ = nullptr;
};

}  // namespace shoal
