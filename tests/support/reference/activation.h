#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "shoal/kernels/activation.h"

namespace shoal::test::reference {

/// f(z), in the textbook forms.
inline double activation(kernels::Activation kind, double z) {
  switch (kind) {
    case kernels::Activation::Relu:
      return z < 0 ? 0 : z;
    case kernels::Activation::Gelu:
      return 0.5 * z * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (z + 0.044715 * z * z * z)));
    case kernels::Activation::Silu:
      return z / (1 + std::exp(-z));
  }
  return std::nan("");
}

/// f'(z).
inline double activation_slope(kernels::Activation kind, double z) {
  switch (kind) {
    case kernels::Activation::Relu:
      return z <= 0 ? 0 : 1;
    case kernels::Activation::Gelu: {
      const double root = std::sqrt(2 / std::numbers::pi);
      const double tanh = std::tanh(root * (z + 0.044715 * z * z * z));
      return 0.5 * (1 + tanh) + 0.5 * z * (1 - tanh * tanh) * root * (1 + 3 * 0.044715 * z * z);
    }
    case kernels::Activation::Silu: {
      const double s = 1 / (1 + std::exp(-z));
      return s + z * s * (1 - s);
    }
  }
  return std::nan("");
}

}  // namespace shoal::test::reference
