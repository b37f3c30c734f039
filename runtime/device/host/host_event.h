#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "shoal/runtime/device/event.h"
#include "shoal/runtime/device/hazard_checker.h"
#include "shoal/runtime/device/host/stream_queue.h"

namespace shoal::host {

/// A queue and the number of its operations that come before the point.
class HostEvent final : public Event {
 public:
  HostEvent(Device& device, std::string name) : Event(device, std::move(name)) {}

  bool is_complete() const override { return queue != nullptr && queue->completed() >= position; }

  // Set by HostStream::record.
  StreamQueue* queue = nullptr;  // null: never recorded
  std::uint64_t position = 0;
  HazardChecker::Clock clock;  // of a checking device
};

}  // namespace shoal::host
