#include "shoal/kernels/conv2d.h"

#include <fmt/format.h>

#include "shoal/kernels/args_check.h"
#include "shoal/kernels/host/conv2d.h"
#include "shoal/kernels/workspace.h"
#include "shoal/runtime/base/error.h"

namespace shoal::kernels {
namespace {

void check_shape(const char* op, const Conv2dShape& s) {
  const bool is_valid = s.batch >= 0 && s.height >= 1 && s.width >= 1 && s.in_channels >= 1 && s.out_channels >= 1 &&
                        s.kernel >= 1 && s.stride >= 1 && s.padding >= 0 && s.kernel <= s.height + 2 * s.padding &&
                        s.kernel <= s.width + 2 * s.padding;
  if (is_valid) return;
  fail(ErrorCode::InvalidArgument,
       fmt::format("[{}] images ({}, {}, {}, {}), {} output channels, kernel {}, stride {}, padding {} have no output; "
                   "extents, kernel and stride must be at least 1 and the kernel at most the padded image",
                   op, s.batch, s.height, s.width, s.in_channels, s.out_channels, s.kernel, s.stride, s.padding));
}

Shape input_shape(const Conv2dShape& s) { return {s.batch, s.height, s.width, s.in_channels}; }
Shape weight_shape(const Conv2dShape& s) { return {s.out_channels, s.in_channels, s.kernel, s.kernel}; }
Shape output_shape(const Conv2dShape& s) { return {s.batch, s.out_height(), s.out_width(), s.out_channels}; }

}  // namespace

std::int64_t conv2d_forward_workspace_bytes(const Conv2dShape& shape) {
  check_shape("conv2d_forward_workspace_bytes", shape);
  return workspace_bytes_for(host::conv2d_forward_scratch(shape));
}

std::int64_t conv2d_backward_input_workspace_bytes(const Conv2dShape& shape) {
  check_shape("conv2d_backward_input_workspace_bytes", shape);
  return workspace_bytes_for(host::conv2d_backward_input_scratch(shape));
}

std::int64_t conv2d_backward_weight_workspace_bytes(const Conv2dShape& shape) {
  check_shape("conv2d_backward_weight_workspace_bytes", shape);
  return workspace_bytes_for(host::conv2d_backward_weight_scratch(shape));
}

void conv2d_forward(Stream& stream, const Conv2dShape& shape, const Tensor& x, const Tensor& w, const Tensor& y,
                    const Tensor& workspace) {
  const ArgsCheck check("conv2d_forward");
  check.host_stream(stream);
  check_shape("conv2d_forward", shape);
  check.shape({"x", x}, DType::F32, input_shape(shape));
  check.shape({"w", w}, DType::F32, weight_shape(shape));
  check.shape({"y", y}, DType::F32, output_shape(shape));
  check_workspace("conv2d_forward", workspace, workspace_bytes_for(host::conv2d_forward_scratch(shape)));
  check.apart({{"y", y}, {"workspace", workspace}}, {{"x", x}, {"w", w}});
  host::conv2d_forward(stream, shape, x, w, y, workspace);
}

void conv2d_backward_input(Stream& stream, const Conv2dShape& shape, const Tensor& dy, const Tensor& w,
                           const GradTarget& dx, const Tensor& workspace) {
  const ArgsCheck check("conv2d_backward_input");
  check.host_stream(stream);
  if (!dx.is_wanted()) return;
  check_shape("conv2d_backward_input", shape);
  check.shape({"dy", dy}, DType::F32, output_shape(shape));
  check.shape({"w", w}, DType::F32, weight_shape(shape));
  check.shape({"dx", dx.tensor}, DType::F32, input_shape(shape));
  check_workspace("conv2d_backward_input", workspace, workspace_bytes_for(host::conv2d_backward_input_scratch(shape)));
  check.apart({{"dx", dx.tensor}, {"workspace", workspace}}, {{"dy", dy}, {"w", w}});
  host::conv2d_backward_input(stream, shape, dy, w, dx, workspace);
}

void conv2d_backward_weight(Stream& stream, const Conv2dShape& shape, const Tensor& x, const Tensor& dy,
                            const GradTarget& dw, const Tensor& workspace) {
  const ArgsCheck check("conv2d_backward_weight");
  check.host_stream(stream);
  if (!dw.is_wanted()) return;
  check_shape("conv2d_backward_weight", shape);
  check.shape({"x", x}, DType::F32, input_shape(shape));
  check.shape({"dy", dy}, DType::F32, output_shape(shape));
  check.shape({"dw", dw.tensor}, DType::F32, weight_shape(shape));
  check_workspace("conv2d_backward_weight", workspace,
                  workspace_bytes_for(host::conv2d_backward_weight_scratch(shape)));
  check.apart({{"dw", dw.tensor}, {"workspace", workspace}}, {{"x", x}, {"dy", dy}});
  host::conv2d_backward_weight(stream, shape, x, dy, dw, workspace);
}

}  // namespace shoal::kernels
