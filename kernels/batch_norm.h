#pragma once

#include "shoal/kernels/grad_target.h"
#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

// Dims: R rows (batch * height * width), C channels. F32. Statistics are per channel over the rows, in a fixed order.

struct BatchNormForward {
  Tensor x;                // (R, C)
  Tensor gamma, beta;      // (C)
  Tensor y;                // (R, C); may be x itself
  Tensor mean, rstd;       // (C) out, for the backward: batch mean and 1 / sqrt(biased variance + epsilon)
  Tensor staged_mean;      // (C) out: batch mean, for the running statistics; none when they are not updated
  Tensor staged_variance;  // (C) out: unbiased batch variance (R - 1 in the divisor; biased where R is 1)
  float epsilon = 1e-5f;
  bool relu = false;  // y = max(0, ...)
};

/// y = gamma (x - mean) rstd + beta, then ReLU where asked for. R of 0 writes zeros to the statistics.
void batch_norm_forward(Stream& stream, const BatchNormForward& t);

struct BatchNormInference {
  Tensor x;                               // (R, C)
  Tensor gamma, beta;                     // (C)
  Tensor running_mean, running_variance;  // (C)
  Tensor y;                               // (R, C); may be x itself
  float epsilon = 1e-5f;
  bool relu = false;
};

/// y = gamma (x - running_mean) / sqrt(running_variance + epsilon) + beta, then ReLU where asked for.
void batch_norm_inference(Stream& stream, const BatchNormInference& t);

struct BatchNormBackward {
  Tensor x;                  // (R, C)
  Tensor y;                  // (R, C) with relu: the forward's output, whose zeros mask the gradient; otherwise none
  Tensor dy;                 // (R, C)
  Tensor mean, rstd;         // (C)
  Tensor gamma;              // (C)
  GradTarget dx;             // (R, C)
  GradTarget dgamma, dbeta;  // (C)
  bool relu = false;
};

/// Gradients of batch_norm_forward, batch statistics included (Ioffe and Szegedy 2015, section 3).
void batch_norm_backward(Stream& stream, const BatchNormBackward& t);

}  // namespace shoal::kernels
