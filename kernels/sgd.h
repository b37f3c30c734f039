#pragma once

#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

struct SgdUpdate {
  Tensor w, g;   // (n) F32: weights, summed gradients
  Tensor m;      // (n) momentum buffer; none when momentum is 0
  Tensor block;  // seed, count, clip_factor, lr, step, is_skipped are read
  double momentum = 0;
  double weight_decay = 0;
  bool is_nesterov = false;
};

/// One step of SGD with the gradient (g / (seed count)) clip_factor, as PyTorch defines it (dampening 0):
///   grad += decay w;  m = momentum m + grad (grad in step 1);  w -= lr (nesterov ? grad + momentum m : m).
/// Elementwise: any split into calls gives the same bits. Nothing is written when the block says skip. g is not
/// changed.
void sgd_update(Stream& stream, const SgdUpdate& t);

}  // namespace shoal::kernels
