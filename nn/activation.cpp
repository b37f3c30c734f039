#include "shoal/nn/activation.h"

#include "shoal/nn/tape.h"

namespace shoal::nn {
namespace {

struct ActivationBackward {
  Edge x;
  Edge y;
  Variable saved;  // Relu: y; otherwise x
  kernels::Activation kind;

  void operator()(BackwardContext& bctx) {
    if (bctx.has_gradient(x)) {
      kernels::activation_backward(bctx.stream(), kind, saved.value(), bctx.gradient_of(y), bctx.target_for(x));
      return;
    }
    const Tensor dy = bctx.mutable_gradient_of(y);
    kernels::activation_backward(bctx.stream(), kind, saved.value(), dy, {dy, false});
    bctx.pass_gradient(y, x);
  }
};

}  // namespace

Variable activate(Context& ctx, Variable x, kernels::Activation kind) {
  const bool is_recorded = ctx.tape != nullptr && x.requires_grad();
  const bool needs_x = is_recorded && kind != kernels::Activation::Relu;
  const Tensor z = x.value();
  Variable y = needs_x ? make_variable(ctx, z.shape(), true, "activation output")
                       : make_variable_over(ctx, x, is_recorded, "activation output");
  kernels::activation_forward(ctx.stream, kind, z, y.value());
  if (y.requires_grad()) {
    ctx.tape->record(y, ActivationBackward{.x = x, .y = y, .saved = needs_x ? x : y, .kind = kind});
  }
  return y;
}

}  // namespace shoal::nn
