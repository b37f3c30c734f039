#include "shoal/collectives/failure_latch.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace shoal::collectives {

FailureLatch::~FailureLatch() { delete failure_.load(); }

void FailureLatch::set(ErrorCode code, std::string text, int rank) {
  if (is_set()) return;
  auto failure = std::make_unique<const Failure>(Failure{code, std::move(text), rank});
  const Failure* expected = nullptr;
  if (failure_.compare_exchange_strong(expected, failure.get())) failure.release();
}

void FailureLatch::raise(std::string_view operation) const {
  const Failure& failure = *failure_.load();
  throw Error(failure.code, fmt::format("[{}] {}", operation, failure.text), failure.rank);
}

}  // namespace shoal::collectives
