#pragma once

#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

struct AdamWUpdate {
  Tensor w, g, m, v;  // (n) F32: weights, summed gradients, first and second moment
  Tensor block;       // seed, count, clip_factor, lr, step, is_skipped are read
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool is_decoupled = true;  // AdamW; false: decay is added to the gradient (Adam with L2)
};

/// One step of AdamW (Loshchilov and Hutter 2019) with the gradient (g / (seed count)) clip_factor:
///   w -= lr decay w;  m += (1 - beta1)(grad - m);  v = beta2 v + (1 - beta2) grad^2;
///   w -= lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon).
/// t is the block's step. It counts every step, those that wrote nothing because the block said skip included: after a
/// skipped step the corrections are a step ahead of the moments, for good.
/// Elementwise: any split into calls gives the same bits. Nothing is written when the block says skip. g is not
/// changed.
void adamw_update(Stream& stream, const AdamWUpdate& t);

}  // namespace shoal::kernels
