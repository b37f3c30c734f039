#include "shoal/kernels/mse_loss.h"

#include "shoal/kernels/args_check.h"
#include "shoal/kernels/host/mse_loss.h"

namespace shoal::kernels {

void mse_loss(Stream& stream, const Tensor& y, const Tensor& target, const Tensor& dy, const Tensor& block) {
  const ArgsCheck check("mse_loss");
  check.host_stream(stream);
  check.dtype({"y", y}, DType::F32);
  check.shape({"target", target}, DType::F32, y.shape());
  check.step_block({"block", block});
  if (dy.is_defined()) {
    check.shape({"dy", dy}, DType::F32, y.shape());
    check.same_or_apart({"dy", dy}, {"y", y});
  }
  check.apart({{"dy", dy}, {"block", block}}, {{"target", target}});
  check.apart({{"block", block}}, {{"y", y}});
  host::mse_loss(stream, y, target, dy, block);
}

}  // namespace shoal::kernels
