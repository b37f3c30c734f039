#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::test::reference {

// Dims: M rows, K input features, N output features.

/// z = x w^T + bias, bias empty for none.
inline std::vector<double> linear(std::span<const double> x, std::span<const double> w, std::span<const double> bias,
                                  std::int64_t M, std::int64_t N, std::int64_t K) {
  std::vector<double> z(static_cast<std::size_t>(M * N));
  for (std::int64_t m = 0; m < M; ++m) {
    for (std::int64_t n = 0; n < N; ++n) {
      double sum = bias.empty() ? 0.0 : bias[static_cast<std::size_t>(n)];
      for (std::int64_t k = 0; k < K; ++k) {
        sum += x[static_cast<std::size_t>(m * K + k)] * w[static_cast<std::size_t>(n * K + k)];
      }
      z[static_cast<std::size_t>(m * N + n)] = sum;
    }
  }
  return z;
}

/// dx = dy w.
inline std::vector<double> linear_dx(std::span<const double> dy, std::span<const double> w, std::int64_t M,
                                     std::int64_t N, std::int64_t K) {
  std::vector<double> dx(static_cast<std::size_t>(M * K));
  for (std::int64_t m = 0; m < M; ++m) {
    for (std::int64_t n = 0; n < N; ++n) {
      for (std::int64_t k = 0; k < K; ++k) {
        dx[static_cast<std::size_t>(m * K + k)] +=
            dy[static_cast<std::size_t>(m * N + n)] * w[static_cast<std::size_t>(n * K + k)];
      }
    }
  }
  return dx;
}

/// dw = dy^T x.
inline std::vector<double> linear_dw(std::span<const double> dy, std::span<const double> x, std::int64_t M,
                                     std::int64_t N, std::int64_t K) {
  std::vector<double> dw(static_cast<std::size_t>(N * K));
  for (std::int64_t m = 0; m < M; ++m) {
    for (std::int64_t n = 0; n < N; ++n) {
      for (std::int64_t k = 0; k < K; ++k) {
        dw[static_cast<std::size_t>(n * K + k)] +=
            dy[static_cast<std::size_t>(m * N + n)] * x[static_cast<std::size_t>(m * K + k)];
      }
    }
  }
  return dw;
}

/// db = sum over rows of dy.
inline std::vector<double> linear_db(std::span<const double> dy, std::int64_t M, std::int64_t N) {
  std::vector<double> db(static_cast<std::size_t>(N));
  for (std::int64_t m = 0; m < M; ++m) {
    for (std::int64_t n = 0; n < N; ++n) db[static_cast<std::size_t>(n)] += dy[static_cast<std::size_t>(m * N + n)];
  }
  return db;
}

}  // namespace shoal::test::reference
