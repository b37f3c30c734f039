#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace shoal::test::reference {

struct BatchNorm {
  std::vector<double> y, mean, rstd, unbiased;
};

/// y = gamma (x - mean) rstd + beta over columns, then max(0, .) with relu.
inline BatchNorm batch_norm(const std::vector<double>& x, const std::vector<double>& gamma,
                            const std::vector<double>& beta, double epsilon, bool relu) {
  const std::size_t num_channels = gamma.size();
  const std::size_t num_rows = num_channels == 0 ? 0 : x.size() / num_channels;
  BatchNorm out;
  out.y.resize(x.size());
  for (std::size_t c = 0; c < num_channels; ++c) {
    double sum = 0;
    for (std::size_t r = 0; r < num_rows; ++r) sum += x[r * num_channels + c];
    const double mean = num_rows == 0 ? 0 : sum / static_cast<double>(num_rows);
    double squares = 0;
    for (std::size_t r = 0; r < num_rows; ++r) squares += std::pow(x[r * num_channels + c] - mean, 2);
    const double variance = num_rows == 0 ? 0 : squares / static_cast<double>(num_rows);
    const double rstd = num_rows == 0 ? 0 : 1 / std::sqrt(variance + epsilon);
    for (std::size_t r = 0; r < num_rows; ++r) {
      const double y = gamma[c] * (x[r * num_channels + c] - mean) * rstd + beta[c];
      out.y[r * num_channels + c] = relu && y <= 0 ? 0 : y;
    }
    out.mean.push_back(mean);
    out.rstd.push_back(rstd);
    out.unbiased.push_back(num_rows > 1 ? squares / static_cast<double>(num_rows - 1) : variance);
  }
  return out;
}

struct BatchNormGradients {
  std::vector<double> dx, dgamma, dbeta;
};

/// From the given statistics. `y` masks dy; empty: no mask.
inline BatchNormGradients batch_norm_backward(const std::vector<double>& x, const std::vector<double>& y,
                                              const std::vector<double>& dy, const std::vector<double>& mean,
                                              const std::vector<double>& rstd, const std::vector<double>& gamma) {
  const std::size_t num_channels = gamma.size();
  const std::size_t num_rows = num_channels == 0 ? 0 : x.size() / num_channels;
  BatchNormGradients out{std::vector<double>(x.size()), std::vector<double>(num_channels),
                         std::vector<double>(num_channels)};
  for (std::size_t c = 0; c < num_channels; ++c) {
    const auto g = [&](std::size_t r) {
      const std::size_t i = r * num_channels + c;
      return y.empty() || y[i] > 0 ? dy[i] : 0;
    };
    const auto xhat = [&](std::size_t r) { return (x[r * num_channels + c] - mean[c]) * rstd[c]; };
    for (std::size_t r = 0; r < num_rows; ++r) {
      out.dgamma[c] += g(r) * xhat(r);
      out.dbeta[c] += g(r);
    }
    const double inverse = 1 / static_cast<double>(num_rows);
    for (std::size_t r = 0; r < num_rows; ++r) {
      out.dx[r * num_channels + c] =
          gamma[c] * rstd[c] * (g(r) - out.dbeta[c] * inverse - xhat(r) * out.dgamma[c] * inverse);
    }
  }
  return out;
}

}  // namespace shoal::test::reference
