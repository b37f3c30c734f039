#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "shoal/runtime/base/error.h"

namespace shoal::collectives {

/// The first failure of a communicator, from any thread: later ones are dropped. Checking costs one load.
class FailureLatch {
 public:
  FailureLatch() = default;
  ~FailureLatch();
  FailureLatch(const FailureLatch&) = delete;
  FailureLatch& operator=(const FailureLatch&) = delete;

  /// Keeps the failure unless there is one; either way is_set() holds afterwards. `text` has no operation in brackets;
  /// `rank` is where it happened.
  void set(ErrorCode code, std::string text, int rank);

  /// Sequentially consistent, so that it can be paired with another flag.
  bool is_set() const { return failure_.load() != nullptr; }

  /// Throws the failure as "[operation] text". Only after is_set() or set().
  [[noreturn]] void raise(std::string_view operation) const;

 private:
  struct Failure {
    ErrorCode code;
    std::string text;
    int rank;
  };
  // Complete when it becomes visible, so that nobody ever finds a failure half written.
  std::atomic<const Failure*> failure_{nullptr};
};

}  // namespace shoal::collectives
