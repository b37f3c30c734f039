#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

#include "shoal/runtime/base/log.h"
#include "shoal/runtime/device/device.h"

namespace shoal {

/// How host streams are worked off.
enum class HostExecution {
  Workers,          // the rank's workers; inline on the rank's own thread when there is one
  ThreadPerStream,  // a thread per stream with seeded random delays before each task: for race tests
};

struct RuntimeOptions {
  LogSink log{};                                                               // for Runtime::log; empty: dropped
  int threads_per_rank = 1;                                                    // host workers per rank
  std::int64_t memory_limit_bytes = std::numeric_limits<std::int64_t>::max();  // per device
  std::chrono::milliseconds deadline{30000};                                   // nothing waits longer without progress
  std::stop_token stop{};                                                      // asks long-running loops to end
  bool check_hazards = false;                                                  // declared byte ranges are checked
  HostExecution execution = HostExecution::Workers;
  std::uint64_t delay_seed = 0;  // ThreadPerStream: seeds the delays
};

/// The library's presence in a program. Makes devices; starts no thread before a device is opened, prints nothing,
/// installs no signal handler. Several may coexist. In a forked child, every call on it, and on the devices, streams
/// and communicators of its parent, throws Internal by name; destroying them there waits for nothing.
class Runtime {
 public:
  /// Throws InvalidArgument where threads_per_rank < 1, a limit is negative, or the deadline is not positive or beyond
  /// kLongestDeadline.
  explicit Runtime(RuntimeOptions options = {});

  /// Opens rank `rank`'s device of `kind`. The calling thread becomes the device's thread: host kernels run on it and
  /// keep up to 460 KB of scratch on its stack, so it needs a stack of 1 MiB.
  /// Throws Unsupported, saying what is missing, where this build has no such device.
  std::unique_ptr<Device> open_device(DeviceKind kind, int rank = 0) const;

  const RuntimeOptions& options() const { return options_; }
  /// Hands `text` to the sink: for whoever holds this Runtime and has something to say.
  void log(LogLevel level, std::string_view text) const;
  bool stop_requested() const { return options_.stop.stop_requested(); }

 private:
  RuntimeOptions options_;
  ProcessMark mark_;
  std::shared_ptr<std::mutex> log_turn_;  // shared by copies: one call of the sink at a time
};

}  // namespace shoal
