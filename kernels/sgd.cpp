#include "shoal/kernels/sgd.h"

#include "shoal/kernels/args_check.h"
#include "shoal/kernels/host/sgd.h"

namespace shoal::kernels {

void sgd_update(Stream& stream, const SgdUpdate& t) {
  const ArgsCheck check("sgd_update");
  check.host_stream(stream);
  check.dtype({"w", t.w}, DType::F32);
  check.numel({"g", t.g}, DType::F32, t.w.numel());
  check.step_block({"block", t.block});
  if (t.momentum != 0) check.numel({"m", t.m}, DType::F32, t.w.numel());
  if (t.momentum == 0 && t.is_nesterov) check.reject("momentum", t.momentum, "positive for Nesterov's form");
  check.apart({{"w", t.w}, {"m", t.m}}, {{"g", t.g}, {"block", t.block}});
  host::sgd_update(stream, t);
}

}  // namespace shoal::kernels
