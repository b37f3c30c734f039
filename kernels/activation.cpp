#include "shoal/kernels/activation.h"

#include "shoal/kernels/args_check.h"
#include "shoal/kernels/host/activation.h"

namespace shoal::kernels {

void activation_forward(Stream& stream, Activation kind, const Tensor& z, const Tensor& y) {
  const ArgsCheck check("activation_forward");
  check.host_stream(stream);
  check.dtype({"z", z}, DType::F32);
  check.shape({"y", y}, DType::F32, z.shape());
  check.same_or_apart({"y", y}, {"z", z});
  host::activation_forward(stream, kind, z, y);
}

void activation_backward(Stream& stream, Activation kind, const Tensor& z, const Tensor& dy, const GradTarget& dz) {
  const ArgsCheck check("activation_backward");
  check.host_stream(stream);
  if (!dz.is_wanted()) return;
  check.dtype({"z", z}, DType::F32);
  check.shape({"dy", dy}, DType::F32, z.shape());
  check.shape({"dz", dz.tensor}, DType::F32, z.shape());
  check.apart({{"dz", dz.tensor}}, {{"z", z}});
  if (dz.accumulate) {
    check.apart({{"dz", dz.tensor}}, {{"dy", dy}});
  } else {
    check.same_or_apart({"dz", dz.tensor}, {"dy", dy});
  }
  host::activation_backward(stream, kind, z, dy, dz);
}

}  // namespace shoal::kernels
