#include "shoal/nn/conv2d.h"

#include <fmt/format.h>

#include <cmath>

#include "shoal/kernels/conv2d.h"
#include "shoal/nn/feature_rows.h"
#include "shoal/nn/tape.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/device.h"

namespace shoal::nn {
namespace {

using kernels::Conv2dShape;

struct Conv2dBackward {
  Edge to_x;
  Edge y;
  Variable x;  // the weight's gradient reads it
  const Parameter* weight;
  Conv2dShape shape;

  void operator()(BackwardContext& bctx) {
    Context& ctx = bctx.forward_context();
    const Tensor dy = bctx.gradient_of(y);
    if (weight->is_trainable) {
      const Scratch workspace =
          make_workspace(ctx, kernels::conv2d_backward_weight_workspace_bytes(shape), "convolution weight gradient");
      const auto dw = bctx.target_for(*weight);
      kernels::conv2d_backward_weight(ctx.stream, shape, x.value(), dy, dw, workspace.tensor());
    }
    x = Variable();  // where nobody else needs it, its bytes can serve as its gradient's
    if (!to_x.requires_grad()) return;
    const auto dx = bctx.target_for(to_x);
    const Scratch workspace =
        make_workspace(ctx, kernels::conv2d_backward_input_workspace_bytes(shape), "convolution input gradient");
    const Tensor w = bctx.value_of(*weight);
    kernels::conv2d_backward_input(ctx.stream, shape, dy, w, dx, workspace.tensor());
  }
};

Conv2dShape checked_shape(const Shape& x, const Parameter& weight, std::int64_t stride, std::int64_t padding) {
  check_rank("nn::conv2d", weight, 4);
  if (x.num_dims() != 4 || x[3] != weight.shape[1] || weight.shape[2] != weight.shape[3]) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[nn::conv2d] x {} with '{}' {}; x must be (batch, height, width, channels), the weight "
                     "(out, channels, k, k)",
                     x.to_string(), weight.name, weight.shape.to_string()));
  }
  return {.batch = x[0],
          .height = x[1],
          .width = x[2],
          .in_channels = x[3],
          .out_channels = weight.shape[0],
          .kernel = weight.shape[2],
          .stride = stride,
          .padding = padding};
}

}  // namespace

Variable conv2d(Context& ctx, const Variable& x, const Parameter& weight, std::int64_t stride, std::int64_t padding) {
  const Conv2dShape shape = checked_shape(x.shape(), weight, stride, padding);
  const std::int64_t workspace_bytes = kernels::conv2d_forward_workspace_bytes(shape);
  Variable y = make_variable(ctx, {shape.batch, shape.out_height(), shape.out_width(), shape.out_channels},
                             x.requires_grad() || weight.is_trainable, "convolution output");
  {
    const Scratch workspace = make_workspace(ctx, workspace_bytes, "convolution");
    const Tensor w = ctx.binding.value(weight);
    kernels::conv2d_forward(ctx.stream, shape, x.value(), w, y.value(), workspace.tensor());
  }
  if (y.requires_grad()) {
    ctx.tape->record(
        y, Conv2dBackward{
               .to_x = x, .y = y, .x = weight.is_trainable ? x : Variable(), .weight = &weight, .shape = shape});
  }
  return y;
}

Conv2d::Conv2d(Module* parent, std::string name, std::int64_t in, std::int64_t out, const Conv2dOptions& options)
    : Module(parent, std::move(name), "Conv2d"),
      options_(options),
      weight_(add_parameter(
          "weight", {out, in, options.kernel, options.kernel},
          {Init::Kind::Normal,
           static_cast<float>(std::sqrt(2.0 / static_cast<double>(out * options.kernel * options.kernel)))},
          true)) {}

Variable Conv2d::forward(Context& ctx, const Variable& x) {
  return conv2d(ctx, x, weight_, options_.stride, options_.padding);
}

}  // namespace shoal::nn
