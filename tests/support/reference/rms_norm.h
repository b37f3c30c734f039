#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace shoal::test::reference {

struct RmsNorm {
  std::vector<double> y, rrms;
};

/// y = gamma x / sqrt(mean(x^2) + epsilon). Its backward is layer_norm_backward without a mean.
inline RmsNorm rms_norm(const std::vector<double>& x, const std::vector<double>& gamma, double epsilon) {
  const std::size_t num_features = gamma.size();
  RmsNorm out;
  out.y.resize(x.size());
  for (std::size_t row = 0; row * num_features < x.size(); ++row) {
    const double* v = x.data() + row * num_features;
    double squares = 0;
    for (std::size_t c = 0; c < num_features; ++c) squares += v[c] * v[c];
    const double rrms = 1 / std::sqrt(squares / static_cast<double>(num_features) + epsilon);
    for (std::size_t c = 0; c < num_features; ++c) out.y[row * num_features + c] = gamma[c] * v[c] * rrms;
    out.rrms.push_back(rrms);
  }
  return out;
}

}  // namespace shoal::test::reference
