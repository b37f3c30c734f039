#pragma once

#include "shoal/kernels/grad_target.h"
#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

// Dims: R rows, C features. F32.

struct LayerNormForward {
  Tensor x;            // (R, C)
  Tensor gamma, beta;  // (C)
  Tensor y;            // (R, C)
  Tensor mean, rstd;   // (R) out, for the backward; none when no gradient is wanted
  float epsilon = 1e-5f;
};

/// y = gamma (x - mean) rstd + beta, with mean and biased variance over each row. The mean that is taken off here has
/// more digits than fp32; the one that is written is rounded.
void layer_norm_forward(Stream& stream, const LayerNormForward& t);

struct LayerNormBackward {
  Tensor x, dy;              // (R, C)
  Tensor mean, rstd;         // (R)
  Tensor gamma;              // (C)
  GradTarget dx;             // (R, C)
  GradTarget dgamma, dbeta;  // (C); summed over rows in a fixed order
};

/// Gradients of layer_norm_forward, with the rounded mean: rows whose mean is far larger than their deviation see xhat
/// shifted by up to 2^-24 |mean| rstd.
void layer_norm_backward(Stream& stream, const LayerNormBackward& t);

}  // namespace shoal::kernels
