#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace shoal::tools {

/// Turns the first SIGINT or SIGTERM into a stop request; the second ends the process at once with status 1. The
/// signals are blocked while it lives in the thread that makes it and in every thread started since; so make it before
/// others start. Its own thread takes them.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  std::stop_token stop_token() const { return source_.get_token(); }

 private:
  void watch();

  std::stop_source source_;
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

}  // namespace shoal::tools
