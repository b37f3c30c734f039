#include "shoal/kernels/rms_norm.h"

#include "shoal/kernels/args_check.h"
#include "shoal/kernels/host/rms_norm.h"

namespace shoal::kernels {
void rms_norm_forward(Stream& stream, const Tensor& x, const Tensor& gamma, const Tensor& y, const Tensor& rrms,
                      float epsilon) {
  const ArgsCheck check("rms_norm_forward");
  check.host_stream(stream);
  check.feature_rows({"x", x});
  check.shape({"gamma", gamma}, DType::F32, {x.shape()[1]});
  check.shape({"y", y}, DType::F32, x.shape());
  if (rrms.is_defined()) check.shape({"rrms", rrms}, DType::F32, {x.shape()[0]});
  check.apart({{"y", y}, {"rrms", rrms}}, {{"x", x}, {"gamma", gamma}});
  host::rms_norm_forward(stream, x, gamma, y, rrms, epsilon);
}

void rms_norm_backward(Stream& stream, const RmsNormBackward& t) {
  const ArgsCheck check("rms_norm_backward");
  check.host_stream(stream);
  check.feature_rows({"x", t.x});
  const Shape per_feature{t.x.shape()[1]};
  check.shape({"dy", t.dy}, DType::F32, t.x.shape());
  check.shape({"rrms", t.rrms}, DType::F32, {t.x.shape()[0]});
  check.shape({"gamma", t.gamma}, DType::F32, per_feature);
  if (t.dx.is_wanted()) check.shape({"dx", t.dx.tensor}, DType::F32, t.x.shape());
  if (t.dgamma.is_wanted()) check.shape({"dgamma", t.dgamma.tensor}, DType::F32, per_feature);
  check.apart({{"dx", t.dx.tensor}, {"dgamma", t.dgamma.tensor}},
              {{"x", t.x}, {"dy", t.dy}, {"rrms", t.rrms}, {"gamma", t.gamma}});
  host::rms_norm_backward(stream, t);
}

}  // namespace shoal::kernels
