#pragma once

#include <memory>

#include "shoal/optim/rule.h"

namespace shoal::optim {

struct AdamWOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  /// AdamW: the weights themselves decay, by lr * weight_decay. false: Adam with L2, weight_decay * w joins the
  /// gradient.
  bool is_decoupled = true;
};

/// AdamW (Loshchilov and Hutter 2019), or Adam (Kingma and Ba 2015) where decay is not decoupled; kernels/adamw.h has
/// the formulas. Elementwise, two state tensors: first and second moment. Parameters that don't decay get no decay.
/// Throws InvalidArgument unless 0 <= beta < 1, epsilon > 0 and weight_decay >= 0, all finite.
std::unique_ptr<Rule> make_adamw(const AdamWOptions& options = {});

}  // namespace shoal::optim
