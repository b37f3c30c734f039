#include "shoal/runtime/fsdp/policies.h"

#include <fmt/format.h>

#include <array>

#include "shoal/runtime/base/error.h"

namespace shoal::fsdp {
namespace {

constexpr std::array<std::string_view, 5> kStrategyNames = {"none", "optimizer", "gradients", "full", "hybrid"};

}  // namespace

std::string_view strategy_name(Strategy strategy) { return kStrategyNames[static_cast<std::size_t>(strategy)]; }

Strategy parse_strategy(std::string_view name) {
  for (std::size_t i = 0; i < kStrategyNames.size(); ++i) {
    if (kStrategyNames[i] == name) return static_cast<Strategy>(i);
  }
  fail(ErrorCode::InvalidArgument,
       fmt::format("[strategy] '{}' is not a strategy; there are {}", name, fmt::join(kStrategyNames, ", ")));
}

}  // namespace shoal::fsdp
