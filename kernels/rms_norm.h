#pragma once

#include "shoal/kernels/grad_target.h"
#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

// Dims: R rows, C features. F32.

/// y = gamma x rrms, rrms = 1 / sqrt(mean(x^2) + epsilon) per row (Zhang and Sennrich 2019).
/// x, y (R, C), gamma (C), rrms (R) out, for the backward; none when no gradient is wanted.
void rms_norm_forward(Stream& stream, const Tensor& x, const Tensor& gamma, const Tensor& y, const Tensor& rrms,
                      float epsilon);

struct RmsNormBackward {
  Tensor x, dy;       // (R, C)
  Tensor rrms;        // (R)
  Tensor gamma;       // (C)
  GradTarget dx;      // (R, C)
  GradTarget dgamma;  // (C); summed over rows in a fixed order
};

/// Gradients of rms_norm_forward.
void rms_norm_backward(Stream& stream, const RmsNormBackward& t);

}  // namespace shoal::kernels
