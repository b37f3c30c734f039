#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <thread>

#include "shoal/runtime/device/host/executor.h"

namespace shoal::host {

/// A thread per stream, which waits for a pseudo-random while before each task: streams interleave in other ways with
/// every seed, so that a missing wait shows. For tests; the rank's thread runs nothing itself.
class StreamThreads final : public Executor, public std::enable_shared_from_this<StreamThreads> {
 public:
  explicit StreamThreads(std::uint64_t delay_seed) : delay_seed_(delay_seed) {}

  Workers* begin_inline(StreamQueue& /*queue*/) override { return nullptr; }
  void end_inline(StreamQueue& /*queue*/) override {}
  void pushed(StreamQueue& /*queue*/) override {}
  bool work_until(StreamQueue& queue, std::uint64_t position, std::chrono::milliseconds deadline) override;
  void stop(std::chrono::milliseconds deadline) noexcept override;
  int num_workers() const override { return 1; }

 protected:
  void opened(StreamQueue& queue) override;
  bool closed(StreamQueue& queue, std::chrono::milliseconds deadline) override;

 private:
  struct Runner {
    StreamQueue* queue = nullptr;
    std::uint64_t index = 0;
    std::atomic<bool> is_stopping{false};
    std::atomic<bool> has_ended{false};
    std::thread thread;
  };

  void serve(Runner& runner);
  void delay(const Runner& runner, std::uint64_t position) const;
  static bool end(Runner& runner, std::chrono::milliseconds deadline);

  std::uint64_t delay_seed_;
  std::uint64_t num_opened_ = 0;
  std::map<const StreamQueue*, std::shared_ptr<Runner>> runners_;  // shared with the thread
};

}  // namespace shoal::host
