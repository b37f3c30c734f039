#pragma once

#include <memory>

#include "shoal/optim/rule.h"

namespace shoal::optim {

struct SgdOptions {
  double momentum = 0;
  double weight_decay = 0;  // weight_decay * w joins the gradient
  bool is_nesterov = false;
};

/// SGD with momentum as PyTorch defines it; kernels/sgd.h has the formulas. Elementwise; one state tensor, the
/// momentum, or none where momentum is 0. Parameters that don't decay get no decay. Throws InvalidArgument unless 0 <=
/// momentum < 1 and weight_decay >= 0, or for Nesterov without momentum.
std::unique_ptr<Rule> make_sgd(const SgdOptions& options = {});

}  // namespace shoal::optim
