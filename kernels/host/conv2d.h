#pragma once

#include "shoal/kernels/conv2d.h"

namespace shoal::kernels::host {

// The ops of kernels/conv2d.h on host memory, arguments checked. All three are products of matrices whose rows are
// gathered from the images while they are packed; no image is ever unfolded in memory.

/// Floats of scratch of each.
std::int64_t conv2d_forward_scratch(const Conv2dShape& shape);
std::int64_t conv2d_backward_input_scratch(const Conv2dShape& shape);
std::int64_t conv2d_backward_weight_scratch(const Conv2dShape& shape);

void conv2d_forward(Stream& stream, const Conv2dShape& shape, const Tensor& x, const Tensor& w, const Tensor& y,
                    const Tensor& workspace);
void conv2d_backward_input(Stream& stream, const Conv2dShape& shape, const Tensor& dy, const Tensor& w,
                           const GradTarget& dx, const Tensor& workspace);
void conv2d_backward_weight(Stream& stream, const Conv2dShape& shape, const Tensor& x, const Tensor& dy,
                            const GradTarget& dw, const Tensor& workspace);

}  // namespace shoal::kernels::host
