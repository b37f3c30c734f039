#pragma once

#include <cstdint>

#include "shoal/kernels/grad_target.h"
#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

/// A square 2-D convolution without bias: images (batch, height, width, in_channels), weights
/// (out_channels, in_channels, kernel, kernel), outputs (batch, out_height, out_width, out_channels). F32.
struct Conv2dShape {
  std::int64_t batch = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;

  std::int64_t out_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  std::int64_t out_width() const { return (width + 2 * padding - kernel) / stride + 1; }
};

/// Bytes of scratch that each call needs, with any number of workers; 0 is possible. Throws InvalidArgument for a shape
/// that has no output.
std::int64_t conv2d_forward_workspace_bytes(const Conv2dShape& shape);
std::int64_t conv2d_backward_input_workspace_bytes(const Conv2dShape& shape);
std::int64_t conv2d_backward_weight_workspace_bytes(const Conv2dShape& shape);

/// y[b,p,q,o] = sum over i,r,s of x[b, p*stride - padding + r, q*stride - padding + s, i] * w[o,i,r,s], zero outside
/// the image. workspace: U8 of at least the bytes above. A batch of 0 is legal.
void conv2d_forward(Stream& stream, const Conv2dShape& shape, const Tensor& x, const Tensor& w, const Tensor& y,
                    const Tensor& workspace);

/// dx (+)= gradient of the above with respect to x.
void conv2d_backward_input(Stream& stream, const Conv2dShape& shape, const Tensor& dy, const Tensor& w,
                           const GradTarget& dx, const Tensor& workspace);

/// dw (+)= gradient of the above with respect to w, summed over the batch in a fixed order.
void conv2d_backward_weight(Stream& stream, const Conv2dShape& shape, const Tensor& x, const Tensor& dy,
                            const GradTarget& dw, const Tensor& workspace);

}  // namespace shoal::kernels
