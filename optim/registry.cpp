#include "shoal/optim/registry.h"

#include <fmt/format.h>

#include <array>

#include "shoal/optim/adamw.h"
#include "shoal/optim/sgd.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/nearest_name.h"

namespace shoal::optim {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"adamw", "adam", "sgd"};

std::unique_ptr<Rule> make_adam(const RuleOptions& options, bool is_decoupled) {
  return make_adamw({.beta1 = options.beta1,
                     .beta2 = options.beta2,
                     .epsilon = options.epsilon,
                     .weight_decay = options.weight_decay,
                     .is_decoupled = is_decoupled});
}

}  // namespace

std::span<const std::string_view> rule_names() { return kNames; }

std::unique_ptr<Rule> make_rule(std::string_view name, const RuleOptions& options) {
  if (name == "adamw") return make_adam(options, true);
  if (name == "adam") return make_adam(options, false);
  if (name == "sgd") {
    return make_sgd(
        {.momentum = options.momentum, .weight_decay = options.weight_decay, .is_nesterov = options.is_nesterov});
  }
  fail(ErrorCode::InvalidArgument, fmt::format("[make_rule] optimizer {}", describe_unknown(name, kNames)));
}

}  // namespace shoal::optim
