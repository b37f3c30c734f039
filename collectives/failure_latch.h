#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "shoal/runtime/base/error.h"

namespace shoal::collectives {

/// The first failure of a communicator, from any thread: later ones are dropped. Checking costs one load.
class FailureLatch {
 public:
  /// Keeps the failure unless there is one. `text` has no operation in brackets; `rank` is where it happened.
  void set(ErrorCode code, std::string text, int rank);

  /// Sequentially consistent, so that it can be paired with another flag.
  bool is_set() const { return state_.load() == State::Set; }

  /// Throws the failure as "[operation] text". Only after is_set().
  [[noreturn]] void raise(std::string_view operation) const;

 private:
  enum class State { Clear, Writing, Set };
  std::atomic<State> state_{State::Clear};
  ErrorCode code_ = ErrorCode::Internal;
  std::string text_;
  int rank_ = -1;
};

}  // namespace shoal::collectives
