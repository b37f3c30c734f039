#include "shoal/kernels/host/rms_norm.h"

#include "shoal/kernels/host/column_strips.h"
#include "shoal/kernels/host/isa_dispatch.h"
#include "shoal/kernels/host/spread.h"

namespace shoal::kernels::host {

void rms_norm_forward(Stream& stream, const Tensor& x, const Tensor& gamma, const Tensor& y, const Tensor& rrms,
                      float epsilon) {
  const std::int64_t num_rows = x.shape()[0];
  const RmsNormRows rows{
      .x = x.as<float>(),
      .gamma = gamma.as<float>(),
      .y = y.as<float>(),
      .rrms = rrms.as<float>(),
      .num_features = x.shape()[1],
      .epsilon = epsilon,
  };
  stream.run("rms_norm_forward", {x, gamma}, {y, rrms}, [rows, num_rows](Workers& workers) {
    spread_rows(workers, num_rows, rows.num_features,
                [&](std::int64_t begin, std::int64_t end) { kernel_table().norm.rms_norm(rows, begin, end); });
  });
}

void rms_norm_backward(Stream& stream, const RmsNormBackward& t) {
  const std::int64_t num_rows = t.x.shape()[0];
  const NormBackwardRows rows{
      .x = t.x.as<float>(),
      .dy = t.dy.as<float>(),
      .mean = nullptr,
      .rstd = t.rrms.as<float>(),
      .gamma = t.gamma.as<float>(),
      .dx = t.dx.tensor.as<float>(),
      .num_features = t.x.shape()[1],
      .accumulate = t.dx.accumulate,
  };
  const NormColumns columns{rows.x, rows.dy, nullptr, rows.rstd, rows.num_features};
  const GradTarget dgamma = t.dgamma;
  stream.run("rms_norm_backward", {t.x, t.dy, t.rrms, t.gamma}, {t.dx.tensor, t.dgamma.tensor}, [=](Workers& workers) {
    if (rows.dx != nullptr) {
      spread_rows(workers, num_rows, rows.num_features, [&](std::int64_t begin, std::int64_t end) {
        kernel_table().norm.rms_norm_backward(rows, begin, end);
      });
    }
    if (!dgamma.is_wanted()) return;
    fold_columns<1>(
        workers, num_rows, rows.num_features,
        [&](const ColumnRange& range, StripValues<1>& sums) {
          kernel_table().norm.rms_norm_columns(columns, range, sums.data());
        },
        add_strip_values<1>,
        [&](const StripValues<1>& sums, const ColumnRange& strip) {
          write_sums(dgamma.tensor.as<float>(), dgamma.accumulate, sums.data(), strip);
        });
  });
}

}  // namespace shoal::kernels::host
