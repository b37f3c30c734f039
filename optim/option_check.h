#pragma once

#include "shoal/optim/rule.h"

namespace shoal::optim {

/// What rules check of their options. Every method throws InvalidArgument naming the rule, the option, its value and
/// what would work; NaN and infinity never pass.
class OptionCheck {
 public:
  explicit OptionCheck(const char* rule) : rule_(rule) {}

  /// 0 <= value < 1.
  void fraction(const char* option, double value) const;
  /// 0 < value.
  void positive(const char* option, double value) const;
  /// 0 <= value.
  void not_negative(const char* option, double value) const;

 private:
  [[noreturn]] void reject(const char* option, double value, const char* want) const;

  const char* rule_;
};

/// A slice names its parameter and brings rule.num_state_tensors() state tensors; throws InvalidArgument otherwise.
/// The tensors themselves are checked by the kernels.
void check_slice(const Rule& rule, const SliceUpdate& slice);

}  // namespace shoal::optim
