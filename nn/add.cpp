#include "shoal/nn/add.h"

#include <fmt/format.h>

#include "shoal/kernels/activation.h"
#include "shoal/kernels/add.h"
#include "shoal/nn/tape.h"
#include "shoal/runtime/base/error.h"

namespace shoal::nn {
namespace {

struct AddBackward {
  Edge a;
  Edge b;
  Edge y;
  Variable y_value;  // with relu: its zeros mask the gradient

  void operator()(BackwardContext& bctx) {
    if (y_value.is_defined()) {
      const Tensor dy = bctx.mutable_gradient_of(y);
      kernels::activation_backward(bctx.stream(), kernels::Activation::Relu, y_value.value(), dy, {dy, false});
    }
    bctx.pass_gradient(y, a);
    bctx.pass_gradient(y, b);
  }
};

}  // namespace

Variable add(Context& ctx, const Variable& a, Variable b, bool relu) {
  if (!(a.shape() == b.shape())) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[nn::add] shapes {} and {} differ", a.shape().to_string(), b.shape().to_string()));
  }
  const Tensor b_value = b.value();
  Variable y = make_variable_over(ctx, b, a.requires_grad() || b.requires_grad(), "sum");
  kernels::add(ctx.stream, a.value(), b_value, y.value(), relu);
  if (y.requires_grad()) {
    ctx.tape->record(y, AddBackward{.a = a, .b = b, .y = y, .y_value = relu ? y : Variable()});
  }
  return y;
}

}  // namespace shoal::nn
