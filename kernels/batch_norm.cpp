#include "shoal/kernels/batch_norm.h"

#include "shoal/kernels/args_check.h"
#include "shoal/kernels/host/batch_norm.h"

namespace shoal::kernels {

void batch_norm_forward(Stream& stream, const BatchNormForward& t) {
  const ArgsCheck check("batch_norm_forward");
  check.host_stream(stream);
  check.num_dims({"x", t.x}, DType::F32, 2);
  const Shape per_channel{t.x.shape()[1]};
  check.shape({"gamma", t.gamma}, DType::F32, per_channel);
  check.shape({"beta", t.beta}, DType::F32, per_channel);
  check.shape({"y", t.y}, DType::F32, t.x.shape());
  check.shape({"mean", t.mean}, DType::F32, per_channel);
  check.shape({"rstd", t.rstd}, DType::F32, per_channel);
  if (t.staged_mean.is_defined()) check.shape({"staged_mean", t.staged_mean}, DType::F32, per_channel);
  if (t.staged_variance.is_defined()) check.shape({"staged_variance", t.staged_variance}, DType::F32, per_channel);
  check.same_or_apart({"y", t.y}, {"x", t.x});
  check.apart({{"y", t.y},
               {"mean", t.mean},
               {"rstd", t.rstd},
               {"staged_mean", t.staged_mean},
               {"staged_variance", t.staged_variance}},
              {{"gamma", t.gamma}, {"beta", t.beta}});
  check.apart(
      {{"mean", t.mean}, {"rstd", t.rstd}, {"staged_mean", t.staged_mean}, {"staged_variance", t.staged_variance}},
      {{"x", t.x}});
  host::batch_norm_forward(stream, t);
}

void batch_norm_inference(Stream& stream, const BatchNormInference& t) {
  const ArgsCheck check("batch_norm_inference");
  check.host_stream(stream);
  check.num_dims({"x", t.x}, DType::F32, 2);
  const Shape per_channel{t.x.shape()[1]};
  check.shape({"gamma", t.gamma}, DType::F32, per_channel);
  check.shape({"beta", t.beta}, DType::F32, per_channel);
  check.shape({"running_mean", t.running_mean}, DType::F32, per_channel);
  check.shape({"running_variance", t.running_variance}, DType::F32, per_channel);
  check.shape({"y", t.y}, DType::F32, t.x.shape());
  check.same_or_apart({"y", t.y}, {"x", t.x});
  check.apart({{"y", t.y}}, {{"gamma", t.gamma},
                             {"beta", t.beta},
                             {"running_mean", t.running_mean},
                             {"running_variance", t.running_variance}});
  host::batch_norm_inference(stream, t);
}

void batch_norm_backward(Stream& stream, const BatchNormBackward& t) {
  const ArgsCheck check("batch_norm_backward");
  check.host_stream(stream);
  check.num_dims({"x", t.x}, DType::F32, 2);
  const Shape per_channel{t.x.shape()[1]};
  if (t.relu) check.shape({"y", t.y}, DType::F32, t.x.shape());
  check.shape({"dy", t.dy}, DType::F32, t.x.shape());
  check.shape({"mean", t.mean}, DType::F32, per_channel);
  check.shape({"rstd", t.rstd}, DType::F32, per_channel);
  check.shape({"gamma", t.gamma}, DType::F32, per_channel);
  if (t.dx.is_wanted()) check.shape({"dx", t.dx.tensor}, DType::F32, t.x.shape());
  if (t.dgamma.is_wanted()) check.shape({"dgamma", t.dgamma.tensor}, DType::F32, per_channel);
  if (t.dbeta.is_wanted()) check.shape({"dbeta", t.dbeta.tensor}, DType::F32, per_channel);
  check.apart({{"dx", t.dx.tensor}, {"dgamma", t.dgamma.tensor}, {"dbeta", t.dbeta.tensor}},
              {{"x", t.x}, {"y", t.y}, {"dy", t.dy}, {"mean", t.mean}, {"rstd", t.rstd}, {"gamma", t.gamma}});
  host::batch_norm_backward(stream, t);
}

}  // namespace shoal::kernels
