#include "shoal/kernels/host/batch_norm.h"

#include <cmath>

#include "shoal/kernels/host/column_strips.h"
#include "shoal/kernels/host/isa_dispatch.h"
#include "shoal/kernels/host/spread.h"

namespace shoal::kernels::host {
namespace {

/// Where the statistics of one strip go; staged ones may be null.
struct Statistics {
  float* mean;
  float* rstd;
  float* staged_mean;
  float* staged_variance;
  float epsilon;
};

/// Moments of a chunk of rows into those of all rows before it (Chan, Golub and LeVeque 1983).
void merge_moments(StripValues<2>& totals, const StripValues<2>& next, const ColumnRange& range) {
  const auto before = static_cast<double>(range.row_begin);
  const double to_mean = static_cast<double>(range.row_end - range.row_begin) / static_cast<double>(range.row_end);
  const double* next_square = next.data() + kStripColumns;
  double* square = totals.data() + kStripColumns;
  for (std::int64_t c = 0; c < range.column_end - range.column_begin; ++c) {
    const auto i = static_cast<std::size_t>(c);
    const double delta = next[i] - totals[i];
    totals[i] += delta * to_mean;
    square[c] += next_square[c] + delta * delta * (before * to_mean);
  }
}

void write_statistics(const Statistics& out, const StripValues<2>& moments, const ColumnRange& strip) {
  const auto num_rows = static_cast<double>(strip.row_end);
  const double divisor = strip.row_end > 1 ? num_rows - 1 : 1;
  for (std::int64_t column = strip.column_begin; column < strip.column_end; ++column) {
    const auto c = static_cast<std::size_t>(column - strip.column_begin);
    const double square = moments[c + static_cast<std::size_t>(kStripColumns)];
    double rstd = 0;
    if (strip.row_end > 0) rstd = 1 / std::sqrt(square / num_rows + static_cast<double>(out.epsilon));
    out.mean[column] = static_cast<float>(moments[c]);
    out.rstd[column] = static_cast<float>(rstd);
    if (out.staged_mean != nullptr) out.staged_mean[column] = static_cast<float>(moments[c]);
    if (out.staged_variance != nullptr) out.staged_variance[column] = static_cast<float>(square / divisor);
  }
}

void normalise_rows(Workers& workers, const BatchNormRows& rows, std::int64_t num_rows) {
  spread_rows(workers, num_rows, rows.num_channels,
              [&](std::int64_t begin, std::int64_t end) { kernel_table().batch_norm.normalise(rows, begin, end); });
}

/// dx of one strip, its row chunks shared by the workers.
void write_gradient(Workers& workers, const BatchNormGradient& gradient, const ColumnRange& strip,
                    const StripValues<2>& sums) {
  spread_rows(workers, strip.row_end, strip.column_end - strip.column_begin, [&](std::int64_t begin, std::int64_t end) {
    const ColumnRange rows{begin, end, strip.column_begin, strip.column_end};
    kernel_table().batch_norm.gradient(gradient, rows, sums.data());
  });
}

}  // namespace

void batch_norm_forward(Stream& stream, const BatchNormForward& t) {
  const std::int64_t num_rows = t.x.shape()[0];
  const BatchNormRows rows{
      .x = t.x.as<float>(),
      .mean = t.mean.as<float>(),
      .rstd = t.rstd.as<float>(),
      .variance = nullptr,
      .gamma = t.gamma.as<float>(),
      .beta = t.beta.as<float>(),
      .y = t.y.as<float>(),
      .num_channels = t.x.shape()[1],
      .epsilon = t.epsilon,
      .relu = t.relu,
  };
  const Statistics statistics{t.mean.as<float>(), t.rstd.as<float>(), t.staged_mean.as<float>(),
                              t.staged_variance.as<float>(), t.epsilon};
  stream.run("batch_norm_forward", {t.x, t.gamma, t.beta}, {t.y, t.mean, t.rstd, t.staged_mean, t.staged_variance},
             [rows, statistics, num_rows](Workers& workers) {
               fold_columns<2>(
                   workers, num_rows, rows.num_channels,
                   [&](const ColumnRange& range, StripValues<2>& moments) {
                     kernel_table().batch_norm.moments(rows.x, rows.num_channels, range, moments.data());
                   },
                   merge_moments,
                   [&](const StripValues<2>& moments, const ColumnRange& strip) {
                     write_statistics(statistics, moments, strip);
                   });
               normalise_rows(workers, rows, num_rows);
             });
}

void batch_norm_inference(Stream& stream, const BatchNormInference& t) {
  const std::int64_t num_rows = t.x.shape()[0];
  const BatchNormRows rows{
      .x = t.x.as<float>(),
      .mean = t.running_mean.as<float>(),
      .rstd = nullptr,
      .variance = t.running_variance.as<float>(),
      .gamma = t.gamma.as<float>(),
      .beta = t.beta.as<float>(),
      .y = t.y.as<float>(),
      .num_channels = t.x.shape()[1],
      .epsilon = t.epsilon,
      .relu = t.relu,
  };
  stream.run("batch_norm_inference", {t.x, t.gamma, t.beta, t.running_mean, t.running_variance}, {t.y},
             [rows, num_rows](Workers& workers) { normalise_rows(workers, rows, num_rows); });
}

void batch_norm_backward(Stream& stream, const BatchNormBackward& t) {
  const BatchNormGradient gradient{
      .x = t.x.as<float>(),
      .y = t.relu ? t.y.as<float>() : nullptr,
      .dy = t.dy.as<float>(),
      .mean = t.mean.as<float>(),
      .rstd = t.rstd.as<float>(),
      .gamma = t.gamma.as<float>(),
      .dx = t.dx.tensor.as<float>(),
      .num_channels = t.x.shape()[1],
      .num_rows = t.x.shape()[0],
      .accumulate = t.dx.accumulate,
  };
  const auto task = [gradient, dgamma = t.dgamma, dbeta = t.dbeta](Workers& workers) {
    const std::int64_t num_strips = ceil_div(gradient.num_channels, kStripColumns);
    for (std::int64_t index = 0; index < num_strips; ++index) {
      const ColumnRange strip = strip_of(index, gradient.num_rows, gradient.num_channels);
      const auto partial = [&](const ColumnRange& range, StripValues<2>& sums) {
        kernel_table().batch_norm.gradient_sums(gradient, range, sums.data());
      };
      fold_strip<2>(workers, strip, partial, add_strip_values<2>, [&](const StripValues<2>& sums) {
        write_sums(dgamma.tensor.as<float>(), dgamma.accumulate, sums.data(), strip);
        write_sums(dbeta.tensor.as<float>(), dbeta.accumulate, sums.data() + kStripColumns, strip);
        if (gradient.dx != nullptr) write_gradient(workers, gradient, strip, sums);
      });
    }
  };
  stream.run("batch_norm_backward", {t.x, t.y, t.dy, t.mean, t.rstd, t.gamma},
             {t.dx.tensor, t.dgamma.tensor, t.dbeta.tensor}, task);
}

}  // namespace shoal::kernels::host
