#include "shoal/kernels/host/activation.h"

#include "shoal/kernels/host/isa_dispatch.h"
#include "shoal/kernels/host/spread.h"

namespace shoal::kernels::host {
namespace {

auto forward_of(Activation kind) {
  const ActivationKernels& kernels = kernel_table().activation;
  return kind == Activation::Relu ? kernels.relu : kind == Activation::Gelu ? kernels.gelu : kernels.silu;
}

auto backward_of(Activation kind) {
  const ActivationKernels& kernels = kernel_table().activation;
  return kind == Activation::Relu   ? kernels.relu_backward
         : kind == Activation::Gelu ? kernels.gelu_backward
                                    : kernels.silu_backward;
}

}  // namespace

void activation_forward(Stream& stream, Activation kind, const Tensor& z, const Tensor& y) {
  stream.run("activation_forward", {z}, {y}, [kind, z, y](Workers& workers) {
    const auto forward = forward_of(kind);
    spread_elements(workers, y.numel(), [&](std::int64_t begin, std::int64_t end) {
      forward(z.as<float>() + begin, y.as<float>() + begin, end - begin);
    });
  });
}

void activation_backward(Stream& stream, Activation kind, const Tensor& z, const Tensor& dy, const GradTarget& dz) {
  stream.run("activation_backward", {z, dy}, {dz.tensor}, [kind, z, dy, dz](Workers& workers) {
    const auto backward = backward_of(kind);
    spread_elements(workers, dz.tensor.numel(), [&](std::int64_t begin, std::int64_t end) {
      backward(z.as<float>() + begin, dy.as<float>() + begin, dz.tensor.as<float>() + begin, dz.accumulate,
               end - begin);
    });
  });
}

}  // namespace shoal::kernels::host
