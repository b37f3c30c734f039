#pragma once

#include "shoal/kernels/grad_target.h"
#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

// Dims: M rows, K input features, N output features. All F32. No output may overlap an input.

/// What follows the product and the bias. Gelu is the tanh form, 0.5 z (1 + tanh(sqrt(2/pi) (z + 0.044715 z^3))).
enum class Epilogue { None, Relu, Gelu };

/// z = x w^T + bias; y = epilogue(z).
/// x (M, K), w (N, K), bias (N) or none, y (M, N). With Gelu, `pre` (M, N) receives z, which the backward needs; none
/// when no gradient is wanted. M, N or K of 0 are legal (K = 0: z = bias). Throws InvalidArgument on shapes, dtypes, or
/// a `pre` without Gelu.
void linear_forward(Stream& stream, const Tensor& x, const Tensor& w, const Tensor& bias, const Tensor& y,
                    Epilogue epilogue = Epilogue::None, const Tensor& pre = {});

/// dx (+)= dy w.   dy (M, N), w (N, K), dx (M, K).
void linear_backward_input(Stream& stream, const Tensor& dy, const Tensor& w, const GradTarget& dx);

/// dw (+)= dy^T x.   dy (M, N), x (M, K), dw (N, K).
void linear_backward_weight(Stream& stream, const Tensor& dy, const Tensor& x, const GradTarget& dw);

/// db[n] (+)= sum over rows of dy[., n], in a fixed order.   dy (M, N), db (N).
void linear_backward_bias(Stream& stream, const Tensor& dy, const GradTarget& db);

}  // namespace shoal::kernels
