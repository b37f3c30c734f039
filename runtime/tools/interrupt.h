#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace shoal::tools {

/// What SIGINT and SIGTERM do to a run. Until start_run the first one ends the process at once with status 1, since
/// nothing can be lost yet; from then on the first requests a stop, and the second ends the process at once with status
/// 1. Either end is told on standard error, after the stop has been requested, whose callbacks run before the end.
///
/// The signals are blocked while it lives in the thread that makes it and in every thread started since; so make it
/// before others start. Its own thread takes them.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  std::stop_token stop_token() const { return source_.get_token(); }
  /// From any thread.
  void start_run() { has_started_.store(true); }

 private:
  void watch();

  std::stop_source source_;
  std::atomic<bool> has_started_{false};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

}  // namespace shoal::tools
