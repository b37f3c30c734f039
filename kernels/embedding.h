#pragma once

#include "shoal/kernels/grad_target.h"
#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

// Dims: B sequences, T positions, C width, V vocabulary.

/// y[b,t] = table[ids[b,t]] (+ positions[t]). ids (B, T) I32, table (V, C), positions (at least T, C) or none, y (B, T,
/// C). F32. An id outside [0, V) makes the stream fail with InvalidArgument, naming its place, its value and V.
void embedding_forward(Stream& stream, const Tensor& ids, const Tensor& table, const Tensor& positions,
                       const Tensor& y);

/// dtable[v] (+)= sum over (b, t) with ids[b,t] = v of dy[b,t], in order of (b, t); rows never used get 0 unless
/// accumulating. dpositions[t] (+)= sum over b of dy[b,t], in order; rows from T on get 0 unless accumulating.
void embedding_backward(Stream& stream, const Tensor& ids, const Tensor& dy, const GradTarget& dtable,
                        const GradTarget& dpositions);

}  // namespace shoal::kernels
