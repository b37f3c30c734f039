// Layer norm and RMS norm, one row at a time: a row is read from memory once and found in the L1 cache by the later
// passes. Sums: see row_sums.h.

#include "shoal/kernels/host/isa/norm.h"

#include "shoal/kernels/host/isa/column_sums.h"
#include "shoal/kernels/host/isa/map.h"
#include "shoal/kernels/host/isa/row_sums.h"
#include "shoal/kernels/host/isa/table_parts.h"

namespace shoal::kernels::host::SHOAL_ISA {
namespace {

/// The mean is mean + rest: fp32 alone would cost digits where it is large beside the deviation.
struct Moments {
  float mean;
  float rest;
  double variance;
};

/// Two passes: the mean, then squares about it, with what rounding the mean has cost taken out again (Chan, Golub and
/// LeVeque 1983, "corrected two-pass").
[[gnu::always_inline]] inline Moments moments_of_row(const float* x, std::int64_t numel) {
  const double inverse = 1.0 / static_cast<double>(numel);
  double sum[1];
  sum_row(
      numel, sum, [x](auto& sums, std::int64_t i, std::int64_t count) __attribute__((always_inline)) {
        sums[0] = sums[0] + load_counted(x, i, count);
      });
  const auto mean = static_cast<float>(sum[0] * inverse);
  double about_mean[2];
  const Lanes center = splat(mean);
  sum_row(
      numel, about_mean,
      [ x, numel, &center ](auto& sums, std::int64_t i, std::int64_t count) __attribute__((always_inline)) {
        __builtin_prefetch(x + numel + i);  // the next row, while this one is in the L1 cache
        const Lanes d = keep_counted(load_counted(x, i, count) - center, count);
        sums[0] = sums[0] + d;
        sums[1] = sums[1] + d * d;
      });
  const double shift = about_mean[0] * inverse;
  const double variance = about_mean[1] * inverse - shift * shift;
  // Not max(): NaN has to pass.
  return {mean, static_cast<float>(shift), variance < 0 ? 0.0 : variance};
}

void layer_norm(const LayerNormRows& a, std::int64_t begin, std::int64_t end) {
  const std::int64_t num_features = a.num_features;
  for (std::int64_t row = begin; row < end; ++row) {
    const float* x = a.x + row * num_features;
    const Moments moments = moments_of_row(x, num_features);
    const auto rstd = static_cast<float>(1.0 / __builtin_sqrt(moments.variance + static_cast<double>(a.epsilon)));
    const Lanes center = splat(moments.mean);
    const Lanes rest = splat(moments.rest);
    const Lanes scale = splat(rstd);
    const auto normalise = [&](const Lanes& v, const Lanes& gamma, const Lanes& beta) __attribute__((always_inline)) {
      return (((v - center) - rest) * scale) * gamma + beta;
    };
    map_to(a.y + row * num_features, num_features, normalise, x, a.gamma, a.beta);
    if (a.mean != nullptr) {
      a.mean[row] = moments.mean;
      a.rstd[row] = rstd;
    }
  }
}

/// dx = rstd (g - mean(g) - xhat mean(g xhat)), g = dy gamma, xhat = (x - mean) rstd.
void layer_norm_backward(const NormBackwardRows& a, std::int64_t begin, std::int64_t end) {
  const std::int64_t num_features = a.num_features;
  const double inverse = 1.0 / static_cast<double>(num_features);
  for (std::int64_t row = begin; row < end; ++row) {
    const float* x = a.x + row * num_features;
    const float* dy = a.dy + row * num_features;
    const Lanes center = splat(a.mean[row]);
    const Lanes scale = splat(a.rstd[row]);
    double sum[2];
    sum_row(
        num_features, sum,
        [&, gamma = a.gamma ](auto& sums, std::int64_t i, std::int64_t count) __attribute__((always_inline)) {
          // Past the row's end g is 0, so xhat may be anything finite there.
          const Lanes g = load_counted(dy, i, count) * load_counted(gamma, i, count);
          const Lanes xhat = (load_counted(x, i, count) - center) * scale;
          sums[0] = sums[0] + g;
          sums[1] = sums[1] + keep_counted(g * xhat, count);
        });
    const Lanes mean_g = splat(static_cast<float>(sum[0] * inverse));
    const Lanes mean_gx = splat(static_cast<float>(sum[1] * inverse));
    const auto gradient = [&](const Lanes& v, const Lanes& d, const Lanes& gamma) __attribute__((always_inline)) {
      const Lanes xhat = (v - center) * scale;
      return scale * ((d * gamma - mean_g) - xhat * mean_gx);
    };
    map_into(a.dx + row * num_features, a.accumulate, num_features, gradient, x, dy, a.gamma);
  }
}

void rms_norm(const RmsNormRows& a, std::int64_t begin, std::int64_t end) {
  const std::int64_t num_features = a.num_features;
  for (std::int64_t row = begin; row < end; ++row) {
    const float* x = a.x + row * num_features;
    double sum[1];
    sum_row(
        num_features, sum, [x](auto& sums, std::int64_t i, std::int64_t count) __attribute__((always_inline)) {
          const Lanes v = load_counted(x, i, count);
          sums[0] = sums[0] + v * v;
        });
    const double mean_square = sum[0] / static_cast<double>(num_features);
    const auto rrms = static_cast<float>(1.0 / __builtin_sqrt(mean_square + static_cast<double>(a.epsilon)));
    const auto normalise = [scale = splat(rrms)](const Lanes& v, const Lanes& gamma) __attribute__((always_inline)) {
      return (v * scale) * gamma;
    };
    map_to(a.y + row * num_features, num_features, normalise, x, a.gamma);
    if (a.rrms != nullptr) a.rrms[row] = rrms;
  }
}

/// dx = rrms (g - xhat mean(g xhat)), g = dy gamma, xhat = x rrms.
void rms_norm_backward(const NormBackwardRows& a, std::int64_t begin, std::int64_t end) {
  const std::int64_t num_features = a.num_features;
  const double inverse = 1.0 / static_cast<double>(num_features);
  for (std::int64_t row = begin; row < end; ++row) {
    const float* x = a.x + row * num_features;
    const float* dy = a.dy + row * num_features;
    const Lanes scale = splat(a.rstd[row]);
    double sum[1];
    sum_row(
        num_features, sum,
        [&, gamma = a.gamma ](auto& sums, std::int64_t i, std::int64_t count) __attribute__((always_inline)) {
          const Lanes g = load_counted(dy, i, count) * load_counted(gamma, i, count);
          sums[0] = sums[0] + keep_counted(g * (load_counted(x, i, count) * scale), count);
        });
    const Lanes mean_gx = splat(static_cast<float>(sum[0] * inverse));
    const auto gradient = [&](const Lanes& v, const Lanes& d, const Lanes& gamma) __attribute__((always_inline)) {
      return scale * (d * gamma - (v * scale) * mean_gx);
    };
    map_into(a.dx + row * num_features, a.accumulate, num_features, gradient, x, dy, a.gamma);
  }
}

void layer_norm_columns(const NormColumns& a, const ColumnRange& range, double* sums) {
  const auto terms_of = [a](auto& terms, std::int64_t row, std::int64_t column, std::int64_t count)
      __attribute__((always_inline)) {
    const float* x = a.x + row * a.num_features;
    const float* dy = a.dy + row * a.num_features;
    const Lanes d = load_counted(dy, column, count);
    terms[0] = d * ((load_counted(x, column, count) - splat(a.mean[row])) * splat(a.rstd[row]));
    terms[1] = d;
  };
  sum_columns<2>(range, sums, terms_of);
}

void rms_norm_columns(const NormColumns& a, const ColumnRange& range, double* sums) {
  const auto terms_of = [a](auto& terms, std::int64_t row, std::int64_t column, std::int64_t count)
      __attribute__((always_inline)) {
    const float* x = a.x + row * a.num_features;
    const float* dy = a.dy + row * a.num_features;
    terms[0] = load_counted(dy, column, count) * (load_counted(x, column, count) * splat(a.rstd[row]));
  };
  sum_columns<1>(range, sums, terms_of);
}

}  // namespace

NormKernels norm_kernels() {
  return {layer_norm, layer_norm_backward, rms_norm, rms_norm_backward, layer_norm_columns, rms_norm_columns};
}

}  // namespace shoal::kernels::host::SHOAL_ISA
