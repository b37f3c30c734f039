// Batch norm over (R, C). Moments: per block of rows the mean, then squares about it while the block is in a cache,
// then blocks are merged in double, so neither a large mean nor an outlier costs digits. x is read from memory once.

#include "shoal/kernels/host/isa/batch_norm.h"

#include "shoal/kernels/host/isa/column_sums.h"
#include "shoal/kernels/host/isa/map.h"
#include "shoal/kernels/host/isa/relu.h"
#include "shoal/kernels/host/isa/table_parts.h"

namespace shoal::kernels::host::SHOAL_ISA {
namespace {

/// Moments of n rows and of m further ones as one, for one channel: to_mean = m / (n + m), to_square = n m / (n + m)
/// (Chan, Golub and LeVeque 1983).
[[gnu::always_inline]] inline void merge(double& mean, double& square, double next_mean, double next_square,
                                         double to_mean, double to_square) {
  const double delta = next_mean - mean;
  mean = mean + delta * to_mean;
  square = square + (next_square + (delta * delta) * to_square);
}

void moments(const float* x, std::int64_t num_channels, const ColumnRange& range, double* values) {
  const std::int64_t num_columns = range.column_end - range.column_begin;
  double* mean = values;
  double* square = values + kStripColumns;
  for_each_block(
      range, [&](const ColumnRange& block) __attribute__((always_inline)) {
        const std::int64_t rows = block.row_end - block.row_begin;
        const double inverse = 1.0 / static_cast<double>(rows);
        BlockSums<1> sum;
        sum_block(
            block, sum,
            [&](auto& terms, std::int64_t row, std::int64_t column, std::int64_t count)
                __attribute__((always_inline)) { terms[0] = load_counted(x + row * num_channels, column, count); });
        float(&center)[kStripColumns] = sum.partial[0];
        for (std::int64_t c = 0; c < num_columns; ++c) center[c] = center[c] * static_cast<float>(inverse);
        BlockSums<2> about;
        sum_block(
            block, about,
            [&](auto& terms, std::int64_t row, std::int64_t column, std::int64_t count) __attribute__((always_inline)) {
              terms[0] =
                  load_counted(x + row * num_channels, column, count) - load(&center[column - range.column_begin]);
              terms[1] = terms[0] * terms[0];
            });
        const std::int64_t before = block.row_begin - range.row_begin;
        const double to_mean = static_cast<double>(rows) / static_cast<double>(before + rows);
        const double to_square = static_cast<double>(before) * to_mean;
        for (std::int64_t c = 0; c < num_columns; ++c) {
          const double shift = static_cast<double>(about.partial[0][c]) * inverse;
          const double block_mean = static_cast<double>(center[c]) + shift;
          const double block_square =
              static_cast<double>(about.partial[1][c]) - static_cast<double>(about.partial[0][c]) * shift;
          if (before == 0) {
            mean[c] = block_mean;
            square[c] = block_square;
          } else {
            merge(mean[c], square[c], block_mean, block_square, to_mean, to_square);
          }
        }
      });
}

/// Channels whose scales are worked out together: nearly always all of them, so that rows are passed over whole.
constexpr std::int64_t kScaledChannels = 2048;

/// Calls body(first, count) for runs of channels.
template <typename Body>
[[gnu::always_inline]] inline void for_each_run(std::int64_t num_channels, Body body) {
  for (std::int64_t begin = 0; begin < num_channels; begin += kScaledChannels) {
    body(begin, num_channels - begin < kScaledChannels ? num_channels - begin : kScaledChannels);
  }
}

template <bool kRelu>
void normalise_rows(const BatchNormRows& a, std::int64_t row_begin, std::int64_t row_end) {
  for_each_run(
      a.num_channels, [&](std::int64_t first, std::int64_t num_columns) __attribute__((always_inline)) {
        float scale[kScaledChannels];
        for (std::int64_t c = 0; c < num_columns; ++c) {
          const float rstd =
              a.rstd != nullptr ? a.rstd[first + c] : 1.0f / __builtin_sqrtf(a.variance[first + c] + a.epsilon);
          scale[c] = a.gamma[first + c] * rstd;
        }
        const auto normalise =
            [](const Lanes& x, const Lanes& mean, const Lanes& gain, const Lanes& beta) __attribute__((always_inline)) {
          const Lanes y = (x - mean) * gain + beta;
          return kRelu ? keep_positive(y, y) : y;
        };
        for (std::int64_t row = row_begin; row < row_end; ++row) {
          const std::int64_t start = row * a.num_channels + first;
          map_to(a.y + start, num_columns, normalise, a.x + start, a.mean + first, static_cast<const float*>(scale),
                 a.beta + first);
        }
      });
}

void normalise(const BatchNormRows& a, std::int64_t begin, std::int64_t end) {
  a.relu ? normalise_rows<true>(a, begin, end) : normalise_rows<false>(a, begin, end);
}

template <bool kRelu>
void sum_gradients(const BatchNormGradient& a, const ColumnRange& range, double* sums) {
  sum_columns<2>(
      range, sums,
      [&a](auto& terms, std::int64_t row, std::int64_t column, std::int64_t count) __attribute__((always_inline)) {
        const std::int64_t start = row * a.num_channels;
        Lanes g = load_counted(a.dy + start, column, count);
        if constexpr (kRelu) g = keep_positive(load_counted(a.y + start, column, count), g);
        const Lanes centered = load_counted(a.x + start, column, count) - load_counted(a.mean, column, count);
        terms[0] = g * (centered * load_counted(a.rstd, column, count));
        terms[1] = g;
      });
}

void gradient_sums(const BatchNormGradient& a, const ColumnRange& range, double* sums) {
  a.y != nullptr ? sum_gradients<true>(a, range, sums) : sum_gradients<false>(a, range, sums);
}

/// dx = gamma rstd ((g - mean(g)) - xhat mean(g xhat)).
template <bool kRelu>
void gradient_rows(const BatchNormGradient& a, const ColumnRange& range, const double* sums) {
  const std::int64_t first = range.column_begin;
  const std::int64_t num_columns = range.column_end - first;
  const double inverse = 1.0 / static_cast<double>(a.num_rows);
  float scale[kStripColumns];
  float mean_gx[kStripColumns];  // mean(g xhat) rstd, so that it multiplies x - mean
  float mean_g[kStripColumns];
  for (std::int64_t c = 0; c < num_columns; ++c) {
    scale[c] = a.gamma[first + c] * a.rstd[first + c];
    mean_gx[c] = static_cast<float>(sums[c] * inverse) * a.rstd[first + c];
    mean_g[c] = static_cast<float>(sums[kStripColumns + c] * inverse);
  }
  const auto gradient_of = [](const Lanes& g, const Lanes& x, const Lanes& mean, const Lanes& gain, const Lanes& gx,
                              const Lanes& g_mean) __attribute__((always_inline)) {
    return gain * ((g - g_mean) - (x - mean) * gx);
  };
  for (std::int64_t row = range.row_begin; row < range.row_end; ++row) {
    const std::int64_t start = row * a.num_channels + first;
    const float* mean = a.mean + first;
    const float* gain = scale;
    const float* gx = mean_gx;
    const float* g_mean = mean_g;
    if constexpr (kRelu) {
      const auto with_mask = [gradient_of](const Lanes& g, const Lanes& y, const auto&... rest)
          __attribute__((always_inline)) {
        return gradient_of(keep_positive(y, g), rest...);
      };
      map_into(a.dx + start, a.accumulate, num_columns, with_mask, a.dy + start, a.y + start, a.x + start, mean, gain,
               gx, g_mean);
    } else {
      map_into(a.dx + start, a.accumulate, num_columns, gradient_of, a.dy + start, a.x + start, mean, gain, gx, g_mean);
    }
  }
}

void gradient(const BatchNormGradient& a, const ColumnRange& range, const double* sums) {
  a.y != nullptr ? gradient_rows<true>(a, range, sums) : gradient_rows<false>(a, range, sums);
}

}  // namespace

BatchNormKernels batch_norm_kernels() { return {moments, normalise, gradient_sums, gradient}; }

}  // namespace shoal::kernels::host::SHOAL_ISA
