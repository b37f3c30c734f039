#include "shoal/kernels/adamw.h"

#include "shoal/kernels/args_check.h"
#include "shoal/kernels/host/adamw.h"

namespace shoal::kernels {

void adamw_update(Stream& stream, const AdamWUpdate& t) {
  const ArgsCheck check("adamw_update");
  check.host_stream(stream);
  check.dtype({"w", t.w}, DType::F32);
  check.numel({"g", t.g}, DType::F32, t.w.numel());
  check.numel({"m", t.m}, DType::F32, t.w.numel());
  check.numel({"v", t.v}, DType::F32, t.w.numel());
  check.step_block({"block", t.block});
  if (!(t.beta1 >= 0 && t.beta1 < 1)) check.reject("beta1", t.beta1, "in [0, 1)");
  if (!(t.beta2 >= 0 && t.beta2 < 1)) check.reject("beta2", t.beta2, "in [0, 1)");
  if (!(t.epsilon >= 0)) check.reject("epsilon", t.epsilon, "at least 0");
  check.apart({{"w", t.w}, {"m", t.m}, {"v", t.v}}, {{"g", t.g}, {"block", t.block}});
  host::adamw_update(stream, t);
}

}  // namespace shoal::kernels
