#include "shoal/nn/pooling.h"

#include <fmt/format.h>

#include "shoal/kernels/pooling.h"
#include "shoal/nn/tape.h"
#include "shoal/runtime/base/error.h"

namespace shoal::nn {
namespace {

void check_images(const char* op, const Shape& x) {
  if (x.num_dims() == 4) return;
  fail(ErrorCode::InvalidArgument,
       fmt::format("[{}] x {}; it must be (batch, height, width, channels)", op, x.to_string()));
}

struct MaxPoolBackward {
  Edge x;
  Edge y;
  Scratch argmax;  // U8, y's shape
  int window;

  void operator()(BackwardContext& bctx) {
    const Tensor dy = bctx.gradient_of(y);
    kernels::max_pool_backward(bctx.stream(), dy, argmax.tensor(), window, bctx.target_for(x));
  }
};

struct GlobalAveragePoolBackward {
  Edge x;
  Edge y;

  void operator()(BackwardContext& bctx) {
    const Tensor dy = bctx.gradient_of(y);
    kernels::global_average_pool_backward(bctx.stream(), dy, bctx.target_for(x));
  }
};

}  // namespace

Variable max_pool(Context& ctx, const Variable& x, int window) {
  check_images("nn::max_pool", x.shape());
  if (window < 1)
    fail(ErrorCode::InvalidArgument, fmt::format("[nn::max_pool] window {}; it must be positive", window));
  const Shape shape{x.shape()[0], x.shape()[1] / window, x.shape()[2] / window, x.shape()[3]};
  Variable y = make_variable(ctx, shape, x.requires_grad(), "max pool output");
  Scratch argmax;
  if (y.requires_grad()) argmax = Scratch(ctx, shape, DType::U8, MemoryTag::Activations, "max pool places");
  kernels::max_pool_forward(ctx.stream, x.value(), window, y.value(), argmax.tensor());
  if (y.requires_grad()) {
    ctx.tape->record(y, MaxPoolBackward{.x = x, .y = y, .argmax = std::move(argmax), .window = window});
  }
  return y;
}

Variable global_average_pool(Context& ctx, const Variable& x) {
  check_images("nn::global_average_pool", x.shape());
  Variable y = make_variable(ctx, {x.shape()[0], x.shape()[3]}, x.requires_grad(), "global average pool output");
  kernels::global_average_pool_forward(ctx.stream, x.value(), y.value());
  if (y.requires_grad()) ctx.tape->record(y, GlobalAveragePoolBackward{.x = x, .y = y});
  return y;
}

}  // namespace shoal::nn
