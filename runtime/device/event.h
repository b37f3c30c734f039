#pragma once

#include <string>

namespace shoal {

class Device;

/// A point on a stream, made by Device::make_event and reusable: each `Stream::record` moves it to a new point.
/// A wait binds to the record that was the latest when `wait` was called. Carries the error of the stream that recorded
/// it.
class Event {
 public:
  virtual ~Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  Device& device() const { return *device_; }
  const std::string& name() const { return name_; }

  /// True when the latest record has been passed; false when never recorded. Never blocks.
  virtual bool is_complete() const = 0;

 protected:
  Event(Device& device, std::string name) : device_(&device), name_(std::move(name)) {}

 private:
  Device* device_;
  std::string name_;
};

}  // namespace shoal
