#include "shoal/collectives/failure_latch.h"

#include <fmt/format.h>

#include <utility>

namespace shoal::collectives {

void FailureLatch::set(ErrorCode code, std::string text, int rank) {
  State expected = State::Clear;
  if (!state_.compare_exchange_strong(expected, State::Writing)) return;
  code_ = code;
  text_ = std::move(text);
  rank_ = rank;
  state_.store(State::Set);
}

void FailureLatch::raise(std::string_view operation) const {
  throw Error(code_, fmt::format("[{}] {}", operation, text_), rank_);
}

}  // namespace shoal::collectives
