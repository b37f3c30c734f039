#include "shoal/optim/option_check.h"

#include <fmt/format.h>

#include <cmath>

#include "shoal/runtime/base/error.h"

namespace shoal::optim {

void OptionCheck::fraction(const char* option, double value) const {
  if (!(value >= 0 && value < 1)) reject(option, value, "at least 0 and below 1");
}

void OptionCheck::positive(const char* option, double value) const {
  if (!(value > 0 && std::isfinite(value))) reject(option, value, "above 0");
}

void OptionCheck::not_negative(const char* option, double value) const {
  if (!(value >= 0 && std::isfinite(value))) reject(option, value, "at least 0");
}

void OptionCheck::reject(const char* option, double value, const char* want) const {
  fail(ErrorCode::InvalidArgument, fmt::format("[{}] {} is {}; it has to be {}", rule_, option, value, want));
}

void check_slice(const Rule& rule, const SliceUpdate& slice) {
  if (slice.parameter == nullptr) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[{}] the slice names no parameter; set SliceUpdate::parameter", rule.name()));
  }
  const auto want = static_cast<std::size_t>(rule.num_state_tensors());
  if (slice.state.size() != want) {
    fail(ErrorCode::InvalidArgument, fmt::format("[{}] the slice of '{}' brings {} state tensors; {} are needed",
                                                 rule.name(), slice.parameter->name, slice.state.size(), want));
  }
}

}  // namespace shoal::optim
