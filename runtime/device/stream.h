#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>

#include "shoal/runtime/device/byte_range.h"
#include "shoal/runtime/device/event.h"
#include "shoal/runtime/device/task.h"

namespace shoal {

/// What a stream is for. Workers take communication first.
enum class StreamRole { Compute, Gather, Reduce, Copy };

/// "compute", "gather", "reduce", "copy".
const char* stream_role_name(StreamRole role);

/// An in-order queue of operations on one device. Streams know no math: an op is a free function in kernels/ that
/// takes a stream. Used from its rank's thread only.
///
/// The first error on a stream sticks: later operations are dropped, events recorded afterwards carry it, streams that
/// wait on such an event inherit it, and `synchronize` throws it with its original text. Destroying a stream drains it.
///
/// Every operation declares the byte ranges it reads and writes. On a device opened with `check_hazards`, two
/// conflicting ranges on different streams without a happens-before edge (stream order, or record and wait) are an
/// Internal error that names both operations, thrown at the call that enqueues the second.
class Stream {
 public:
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Device& device() const { return *device_; }
  StreamRole role() const { return role_; }
  const std::string& name() const { return name_; }

  /// Moves `event` to this point of the stream. Throws InvalidArgument for an event of another device.
  virtual void record(Event& event) = 0;

  /// Later operations start after the latest record of `event` at the time of this call.
  /// Throws InvalidArgument for an event never recorded, or of another device.
  virtual void wait(const Event& event) = 0;

  /// dst[i] = src[i] for `bytes` bytes of device memory; the ranges must not overlap.
  virtual void copy(void* dst, const void* src, std::int64_t bytes) = 0;

  /// Sets `bytes` bytes to `value`.
  virtual void fill(void* dst, std::uint8_t value, std::int64_t bytes) = 0;

  /// Runs `task` in turn. `name` must outlive the stream (a literal). An exception it throws becomes the stream's
  /// error. On the sim device the task is dropped and only the declaration counts.
  virtual void run(const char* name, const ByteRanges& reads, const ByteRanges& writes, Task task) = 0;

  /// Like `run` for work that depends on other ranks: tried until it returns Done; later operations of this stream wait
  /// for it, other streams don't.
  virtual void run_polled(const char* name, const ByteRanges& reads, const ByteRanges& writes, PolledTask task) = 0;

  /// Blocks until everything enqueued so far has run, working on it itself where the rank's thread is a worker; throws
  /// the stream's error. Throws Timeout, naming the operation at the head, when nothing on the device has moved for
  /// `deadline`; an operation that this thread itself is in, parallel_for with its helpers included, is not cut short.
  virtual void synchronize(std::chrono::milliseconds deadline) = 0;

  /// synchronize with the device's default deadline.
  void synchronize();

  /// The sticky error, or null. Never blocks.
  virtual std::exception_ptr error() const = 0;

 protected:
  Stream(Device& device, StreamRole role, std::string name) : device_(&device), role_(role), name_(std::move(name)) {}

 private:
  Device* device_;
  StreamRole role_;
  std::string name_;
};

}  // namespace shoal
