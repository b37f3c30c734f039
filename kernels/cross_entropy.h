#pragma once

#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

struct CrossEntropy {
  Tensor logits;       // (R, V)
  Tensor targets;      // (R) I32: class of each row; negative: the row is ignored and counts for nothing
  Tensor dlogits;      // (R, V) out, may be logits itself; none when no gradient is wanted
  Tensor row_loss;     // (R) F64 scratch: loss of each row
  Tensor row_correct;  // (R) U8 scratch: 1 where the target is the first largest logit
  Tensor block;        // the step block
};

/// Softmax cross-entropy fused with its gradient. Adds to the block: loss_sum += sum over rows of -log
/// softmax(logits)[target], count += rows that are not ignored, correct += rows whose target has the (first) largest
/// logit. Row losses in double, summed in row order. dlogits = seed * (softmax(logits) - onehot(target)), zero for
/// ignored rows, seed from the block. A target >= V makes the stream fail with InvalidArgument, naming row, value and
/// V.
void cross_entropy(Stream& stream, const CrossEntropy& t);

}  // namespace shoal::kernels
