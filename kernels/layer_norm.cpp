#include "shoal/kernels/layer_norm.h"

#include "shoal/kernels/args_check.h"
#include "shoal/kernels/host/layer_norm.h"

namespace shoal::kernels {
void layer_norm_forward(Stream& stream, const LayerNormForward& t) {
  const ArgsCheck check("layer_norm_forward");
  check.host_stream(stream);
  check.feature_rows({"x", t.x});
  const Shape per_row{t.x.shape()[0]};
  const Shape per_feature{t.x.shape()[1]};
  check.shape({"gamma", t.gamma}, DType::F32, per_feature);
  check.shape({"beta", t.beta}, DType::F32, per_feature);
  check.shape({"y", t.y}, DType::F32, t.x.shape());
  if (t.mean.is_defined() || t.rstd.is_defined()) {
    check.shape({"mean", t.mean}, DType::F32, per_row);
    check.shape({"rstd", t.rstd}, DType::F32, per_row);
  }
  check.apart({{"y", t.y}, {"mean", t.mean}, {"rstd", t.rstd}}, {{"x", t.x}, {"gamma", t.gamma}, {"beta", t.beta}});
  host::layer_norm_forward(stream, t);
}

void layer_norm_backward(Stream& stream, const LayerNormBackward& t) {
  const ArgsCheck check("layer_norm_backward");
  check.host_stream(stream);
  check.feature_rows({"x", t.x});
  const Shape per_row{t.x.shape()[0]};
  const Shape per_feature{t.x.shape()[1]};
  check.shape({"dy", t.dy}, DType::F32, t.x.shape());
  check.shape({"mean", t.mean}, DType::F32, per_row);
  check.shape({"rstd", t.rstd}, DType::F32, per_row);
  check.shape({"gamma", t.gamma}, DType::F32, per_feature);
  if (t.dx.is_wanted()) check.shape({"dx", t.dx.tensor}, DType::F32, t.x.shape());
  if (t.dgamma.is_wanted()) check.shape({"dgamma", t.dgamma.tensor}, DType::F32, per_feature);
  if (t.dbeta.is_wanted()) check.shape({"dbeta", t.dbeta.tensor}, DType::F32, per_feature);
  check.apart({{"dx", t.dx.tensor}, {"dgamma", t.dgamma.tensor}, {"dbeta", t.dbeta.tensor}},
              {{"x", t.x}, {"dy", t.dy}, {"mean", t.mean}, {"rstd", t.rstd}, {"gamma", t.gamma}});
  host::layer_norm_backward(stream, t);
}

}  // namespace shoal::kernels
