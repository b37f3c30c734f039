#pragma once

#include "shoal/kernels/grad_target.h"
#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

/// Gelu is the tanh form; Silu is z * sigmoid(z).
enum class Activation { Relu, Gelu, Silu };

/// y[i] = f(z[i]). F32, any equal shapes; y may be z itself.
void activation_forward(Stream& stream, Activation kind, const Tensor& z, const Tensor& y);

/// dz[i] (+)= f'(z[i]) dy[i]. dz may be dy itself when not accumulating. For Relu, z may be the forward's output
/// instead of its input, since both are positive together.
void activation_backward(Stream& stream, Activation kind, const Tensor& z, const Tensor& dy, const GradTarget& dz);

}  // namespace shoal::kernels
