#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace shoal::test::reference {

struct LayerNorm {
  std::vector<double> y, mean, rstd;
};

/// y = gamma (x - mean) rstd + beta over rows of `num_features`.
inline LayerNorm layer_norm(const std::vector<double>& x, const std::vector<double>& gamma,
                            const std::vector<double>& beta, double epsilon) {
  const std::size_t num_features = gamma.size();
  LayerNorm out;
  out.y.resize(x.size());
  for (std::size_t row = 0; row * num_features < x.size(); ++row) {
    const double* v = x.data() + row * num_features;
    double sum = 0;
    for (std::size_t c = 0; c < num_features; ++c) sum += v[c];
    const double mean = sum / static_cast<double>(num_features);
    double squares = 0;
    for (std::size_t c = 0; c < num_features; ++c) squares += (v[c] - mean) * (v[c] - mean);
    const double rstd = 1 / std::sqrt(squares / static_cast<double>(num_features) + epsilon);
    for (std::size_t c = 0; c < num_features; ++c) {
      out.y[row * num_features + c] = gamma[c] * (v[c] - mean) * rstd + beta[c];
    }
    out.mean.push_back(mean);
    out.rstd.push_back(rstd);
  }
  return out;
}

struct NormGradients {
  std::vector<double> dx, dgamma, dbeta;
};

/// From the given statistics; RMS norm is the case of no mean, in which the mean of g drops out as well.
inline NormGradients layer_norm_backward(const std::vector<double>& x, const std::vector<double>& dy,
                                         const std::vector<double>& mean, const std::vector<double>& rstd,
                                         const std::vector<double>& gamma) {
  const std::size_t num_features = gamma.size();
  NormGradients out{std::vector<double>(x.size()), std::vector<double>(num_features),
                    std::vector<double>(num_features)};
  for (std::size_t row = 0; row < rstd.size(); ++row) {
    double sum_g = 0;
    double sum_gx = 0;
    const auto xhat = [&](std::size_t c) {
      return (x[row * num_features + c] - (mean.empty() ? 0 : mean[row])) * rstd[row];
    };
    for (std::size_t c = 0; c < num_features; ++c) {
      const double d = dy[row * num_features + c];
      sum_g += d * gamma[c];
      sum_gx += d * gamma[c] * xhat(c);
      out.dgamma[c] += d * xhat(c);
      out.dbeta[c] += d;
    }
    const double inverse = 1 / static_cast<double>(num_features);
    for (std::size_t c = 0; c < num_features; ++c) {
      const double g = dy[row * num_features + c] * gamma[c];
      out.dx[row * num_features + c] =
          rstd[row] * (g - (mean.empty() ? 0 : sum_g * inverse) - xhat(c) * sum_gx * inverse);
    }
  }
  return out;
}

}  // namespace shoal::test::reference
