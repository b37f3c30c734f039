#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::test::reference {

/// Dims: B batch, T sequence, H heads, D head width. qkv (B, T, 3, H, D), out (B, T, H, D), log_sum_exp (B, H, T).
struct AttentionDims {
  std::int64_t B;
  std::int64_t T;
  std::int64_t H;
  std::int64_t D;

  /// Element d of q (part 0), k (1) or v (2).
  std::size_t qkv(std::int64_t b, std::int64_t t, std::int64_t part, std::int64_t h, std::int64_t d) const {
    return static_cast<std::size_t>((((b * T + t) * 3 + part) * H + h) * D + d);
  }
  std::size_t out(std::int64_t b, std::int64_t t, std::int64_t h, std::int64_t d) const {
    return static_cast<std::size_t>(((b * T + t) * H + h) * D + d);
  }
  std::size_t row(std::int64_t b, std::int64_t h, std::int64_t t) const {
    return static_cast<std::size_t>((b * H + h) * T + t);
  }
};

/// Softmax over keys 0..t of the scaled scores of query t; also log of the sum of their exponentials.
inline std::vector<double> attention_row(const AttentionDims& n, std::span<const double> qkv, std::int64_t b,
                                         std::int64_t h, std::int64_t t, double& log_sum_exp) {
  std::vector<double> p(static_cast<std::size_t>(t + 1));
  for (std::int64_t s = 0; s <= t; ++s) {
    double dot = 0;
    for (std::int64_t d = 0; d < n.D; ++d) dot += qkv[n.qkv(b, t, 0, h, d)] * qkv[n.qkv(b, s, 1, h, d)];
    p[static_cast<std::size_t>(s)] = dot / std::sqrt(static_cast<double>(n.D));
  }
  const double largest = *std::max_element(p.begin(), p.end());
  double sum = 0;
  for (double& value : p) sum += value = std::exp(value - largest);
  for (double& value : p) value /= sum;
  log_sum_exp = largest + std::log(sum);
  return p;
}

struct AttentionOut {
  std::vector<double> out;
  std::vector<double> log_sum_exp;
};

inline AttentionOut attention(const AttentionDims& n, std::span<const double> qkv) {
  AttentionOut r{std::vector<double>(n.out(n.B, 0, 0, 0)), std::vector<double>(n.row(n.B, 0, 0))};
  for (std::int64_t b = 0; b < n.B; ++b) {
    for (std::int64_t h = 0; h < n.H; ++h) {
      for (std::int64_t t = 0; t < n.T; ++t) {
        const std::vector<double> p = attention_row(n, qkv, b, h, t, r.log_sum_exp[n.row(b, h, t)]);
        for (std::int64_t s = 0; s <= t; ++s) {
          for (std::int64_t d = 0; d < n.D; ++d) {
            r.out[n.out(b, t, h, d)] += p[static_cast<std::size_t>(s)] * qkv[n.qkv(b, s, 2, h, d)];
          }
        }
      }
    }
  }
  return r;
}

/// Gradient with respect to qkv, by the chain rule through the softmax.
inline std::vector<double> attention_dqkv(const AttentionDims& n, std::span<const double> qkv,
                                          std::span<const double> dout) {
  std::vector<double> dqkv(qkv.size());
  const double scale = 1 / std::sqrt(static_cast<double>(n.D));
  for (std::int64_t b = 0; b < n.B; ++b) {
    for (std::int64_t h = 0; h < n.H; ++h) {
      for (std::int64_t t = 0; t < n.T; ++t) {
        double log_sum_exp = 0;
        const std::vector<double> p = attention_row(n, qkv, b, h, t, log_sum_exp);
        std::vector<double> dp(p.size());
        double mean = 0;
        for (std::int64_t s = 0; s <= t; ++s) {
          const auto at = static_cast<std::size_t>(s);
          for (std::int64_t d = 0; d < n.D; ++d) {
            dp[at] += dout[n.out(b, t, h, d)] * qkv[n.qkv(b, s, 2, h, d)];
            dqkv[n.qkv(b, s, 2, h, d)] += p[at] * dout[n.out(b, t, h, d)];
          }
          mean += p[at] * dp[at];
        }
        for (std::int64_t s = 0; s <= t; ++s) {
          const auto at = static_cast<std::size_t>(s);
          const double ds = p[at] * (dp[at] - mean) * scale;
          for (std::int64_t d = 0; d < n.D; ++d) {
            dqkv[n.qkv(b, t, 0, h, d)] += ds * qkv[n.qkv(b, s, 1, h, d)];
            dqkv[n.qkv(b, s, 1, h, d)] += ds * qkv[n.qkv(b, t, 0, h, d)];
          }
        }
      }
    }
  }
  return dqkv;
}

}  // namespace shoal::test::reference
