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
  LogSink log{};                                                               // empty: words are dropped
  int threads_per_rank = 1;                                                    // host workers per rank
  std::int64_t memory_limit_bytes = std::numeric_limits<std::int64_t>::max();  // per device
  std::chrono::milliseconds deadline{30000};                                   // nothing waits longer without progress
  std::stop_token stop{};                                                      // asks long-running loops to end
  bool check_hazards = false;                                                  // declared byte ranges are checked
  HostExecution execution = HostExecution::Workers;
  std::uint64_t delay_seed = 0;  // ThreadPerStream: seeds the delays
};

/// The library's presence in a program. Makes devices; starts no thread before a device is opened, prints nothing,
/// installs no signal handler. Several may coexist. Use in a forked child throws Internal by name.
class Runtime {
 public:
  /// Throws InvalidArgument where threads_per_rank < 1, a limit is negative or the deadline is not positive.
  explicit Runtime(RuntimeOptions options = {});

  /// Opens rank `rank`'s device of `kind`. The calling thread becomes the device's thread.
  /// Throws Unsupported, saying what is missing, where this build has no such device.
  std::unique_ptr<Device> open_device(DeviceKind kind, int rank = 0) const;

  const RuntimeOptions& options() const { return options_; }
  void log(LogLevel level, std::string_view text) const;
  bool stop_requested() const { return options_.stop.stop_requested(); }

 private:
  RuntimeOptions options_;
  long process_id_;
  std::shared_ptr<std::mutex> log_turn_;  // shared by copies: one call of the sink at a time
};

}  // namespace shoal
