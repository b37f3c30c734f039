#pragma once

#include <cstdint>

#include "shoal/kernels/grad_target.h"
#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

// Images are (B, H, W, C), F32.

/// y[b,p,q,c] = max of the window x window block at (p * window, q * window); rows and columns that fill no window are
/// dropped. y (B, H / window, W / window, C), argmax the same shape, U8: index of the (first) largest within the
/// window, or none. window: 1 to 16, so that the index fits.
void max_pool_forward(Stream& stream, const Tensor& x, int window, const Tensor& y, const Tensor& argmax);

/// dx (+)= dy at the places that argmax names, 0 elsewhere.
void max_pool_backward(Stream& stream, const Tensor& dy, const Tensor& argmax, int window, const GradTarget& dx);

/// y[b,c] = mean over height and width of x[b,.,.,c], in a fixed order. y (B, C).
void global_average_pool_forward(Stream& stream, const Tensor& x, const Tensor& y);

/// dx[b,p,q,c] (+)= dy[b,c] / (H W).
void global_average_pool_backward(Stream& stream, const Tensor& dy, const GradTarget& dx);

}  // namespace shoal::kernels
