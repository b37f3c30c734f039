#include "shoal/kernels/host/layer_norm.h"

#include "shoal/kernels/host/column_strips.h"
#include "shoal/kernels/host/isa_dispatch.h"
#include "shoal/kernels/host/spread.h"

namespace shoal::kernels::host {

void layer_norm_forward(Stream& stream, const LayerNormForward& t) {
  const std::int64_t num_rows = t.x.shape()[0];
  const LayerNormRows rows{
      .x = t.x.as<float>(),
      .gamma = t.gamma.as<float>(),
      .beta = t.beta.as<float>(),
      .y = t.y.as<float>(),
      .mean = t.mean.as<float>(),
      .rstd = t.rstd.as<float>(),
      .num_features = t.x.shape()[1],
      .epsilon = t.epsilon,
  };
  stream.run("layer_norm_forward", {t.x, t.gamma, t.beta}, {t.y, t.mean, t.rstd}, [rows, num_rows](Workers& workers) {
    spread_rows(workers, num_rows, rows.num_features,
                [&](std::int64_t begin, std::int64_t end) { kernel_table().norm.layer_norm(rows, begin, end); });
  });
}

void layer_norm_backward(Stream& stream, const LayerNormBackward& t) {
  const std::int64_t num_rows = t.x.shape()[0];
  const NormBackwardRows rows{
      .x = t.x.as<float>(),
      .dy = t.dy.as<float>(),
      .mean = t.mean.as<float>(),
      .rstd = t.rstd.as<float>(),
      .gamma = t.gamma.as<float>(),
      .dx = t.dx.tensor.as<float>(),
      .num_features = t.x.shape()[1],
      .accumulate = t.dx.accumulate,
  };
  const NormColumns columns{rows.x, rows.dy, rows.mean, rows.rstd, rows.num_features};
  const GradTarget dgamma = t.dgamma;
  const GradTarget dbeta = t.dbeta;
  stream.run("layer_norm_backward", {t.x, t.dy, t.mean, t.rstd, t.gamma},
             {t.dx.tensor, t.dgamma.tensor, t.dbeta.tensor}, [=](Workers& workers) {
               if (rows.dx != nullptr) {
                 spread_rows(workers, num_rows, rows.num_features, [&](std::int64_t begin, std::int64_t end) {
                   kernel_table().norm.layer_norm_backward(rows, begin, end);
                 });
               }
               if (!dgamma.is_wanted() && !dbeta.is_wanted()) return;
               fold_columns<2>(
                   workers, num_rows, rows.num_features,
                   [&](const ColumnRange& range, StripValues<2>& sums) {
                     kernel_table().norm.layer_norm_columns(columns, range, sums.data());
                   },
                   add_strip_values<2>,
                   [&](const StripValues<2>& sums, const ColumnRange& strip) {
                     write_sums(dgamma.tensor.as<float>(), dgamma.accumulate, sums.data(), strip);
                     write_sums(dbeta.tensor.as<float>(), dbeta.accumulate, sums.data() + kStripColumns, strip);
                   });
             });
}

}  // namespace shoal::kernels::host
