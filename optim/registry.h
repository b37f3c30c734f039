#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "shoal/optim/rule.h"

namespace shoal::optim {

/// The options of all rules that can be made by name; a rule reads its own.
struct RuleOptions {
  double weight_decay = 0;
  double beta1 = 0.9;        // adamw, adam
  double beta2 = 0.999;      // adamw, adam
  double epsilon = 1e-8;     // adamw, adam
  double momentum = 0;       // sgd
  bool is_nesterov = false;  // sgd
};

/// "adamw", "adam", "sgd".
std::span<const std::string_view> rule_names();

/// The rule of that name. Throws InvalidArgument for an unknown name, with the nearest match and the known ones, and
/// for options that the rule refuses.
std::unique_ptr<Rule> make_rule(std::string_view name, const RuleOptions& options = {});

}  // namespace shoal::optim
