#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/tolerance.h"

namespace shoal::test {

/// Checks `gradient` (from an op's backward) of `loss` (a double-precision reference forward) at `x`, along three
/// random directions and along the gradient itself, where no component can hide another's error: (loss(x + h d) -
/// loss(x - h d)) / 2h must equal gradient . d, up to kDirectionalGradient |gradient| |d|.
inline ::testing::AssertionResult gradient_matches(const std::function<double(std::span<const double>)>& loss,
                                                   std::span<const double> x, std::span<const float> gradient,
                                                   std::uint64_t seed) {
  if (x.size() != gradient.size()) {
    return ::testing::AssertionFailure() << "gradient of " << gradient.size() << " elements for " << x.size();
  }
  double gradient_norm = 0;
  for (const float g : gradient) gradient_norm += static_cast<double>(g) * static_cast<double>(g);
  gradient_norm = std::sqrt(gradient_norm);
  for (int round = 0; round < 4; ++round) {
    std::vector<float> direction(gradient.begin(), gradient.end());
    if (round < 3)
      direction = normal_values(static_cast<std::int64_t>(x.size()), seed + static_cast<std::uint64_t>(round));
    double norm = 0;
    double largest = 0;
    double expected = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto d = static_cast<double>(direction[i]);
      norm += d * d;
      largest = std::fmax(largest, std::abs(d));
      expected += d * static_cast<double>(gradient[i]);
    }
    norm = std::sqrt(norm);
    if (norm == 0) continue;
    const double h = kDirectionalStep / largest;
    std::vector<double> ahead(x.begin(), x.end());
    std::vector<double> behind(x.begin(), x.end());
    for (std::size_t i = 0; i < x.size(); ++i) {
      ahead[i] += h * static_cast<double>(direction[i]);
      behind[i] -= h * static_cast<double>(direction[i]);
    }
    const double measured = (loss(ahead) - loss(behind)) / (2 * h);
    if (!(std::abs(measured - expected) <= kDirectionalGradient * gradient_norm * norm)) {
      return ::testing::AssertionFailure()
             << "direction " << round << ": differences give " << measured << ", the gradient " << expected
             << " (|gradient| " << gradient_norm << ", |direction| " << norm << ")";
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace shoal::test
