#pragma once

#include <cstdint>
#include <limits>

#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

/// The numbers of one step that kernels read and write on the device, so that the host reads nothing inside a step.
struct StepBlock {
  // Sums over this rank's items; all-reduced as three F64 after the forward pass.
  double loss_sum;
  double count;
  double correct;
  // Set at the start of a step.
  double seed;  // a power of two: gradients are seed * d(loss_sum)/d(...)
  double lr;
  std::int64_t step;  // 1 for the first
  double max_norm;    // infinity: no clipping
  // Computed by finish_gradient_norm.
  double grad_norm;         // of the mean gradient, that is of sum / (seed * count)
  double clip_factor;       // min(1, max_norm / grad_norm)
  std::int64_t is_skipped;  // not 0: the norm is not finite, and updates do nothing
};

/// The block as bytes in a U8 tensor of sizeof(StepBlock) elements.
inline StepBlock* step_block(const Tensor& block) { return block.as<StepBlock>(); }

/// loss_sum, count and correct as the F64 tensor of 3 elements that is summed over ranks.
Tensor step_sums(const Tensor& block);

struct StepStart {
  double seed = 1;
  double lr = 0;
  std::int64_t step = 1;
  double max_norm = std::numeric_limits<double>::infinity();
};

/// Zeroes the block and sets what `start` names. block: U8 of sizeof(StepBlock). Throws InvalidArgument where the step
/// is below 1 or the largest norm is not above 0.
void begin_step(Stream& stream, const StepStart& start, const Tensor& block);

}  // namespace shoal::kernels
