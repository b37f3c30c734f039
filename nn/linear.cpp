#include "shoal/nn/linear.h"

#include <fmt/format.h>

#include <cmath>

#include "shoal/kernels/activation.h"
#include "shoal/nn/feature_rows.h"
#include "shoal/nn/tape.h"
#include "shoal/runtime/base/error.h"

namespace shoal::nn {
namespace {

using kernels::Epilogue;

struct LinearBackward {
  Edge to_x;
  Edge y;
  Variable x;        // the weight's gradient reads it
  Variable y_value;  // Relu: its zeros mask the gradient
  Scratch pre;       // Gelu: what went into it
  const Parameter* weight;
  const Parameter* bias;
  Epilogue epilogue;

  void operator()(BackwardContext& bctx) {
    const Tensor dz = as_rows(before_epilogue(bctx));  // (M, N)
    if (bias != nullptr) {
      if (const auto db = bctx.target_for(*bias); db.is_wanted()) kernels::linear_backward_bias(bctx.stream(), dz, db);
    }
    if (const auto dw = bctx.target_for(*weight); dw.is_wanted()) {
      kernels::linear_backward_weight(bctx.stream(), dz, as_rows(x.value()), dw);
    }
    x = Variable();  // where nobody else needs it, its bytes can serve as its gradient's
    if (!to_x.requires_grad()) return;
    auto dx = bctx.target_for(to_x);
    dx.tensor = as_rows(dx.tensor);
    const Tensor w = bctx.value_of(*weight);
    kernels::linear_backward_input(bctx.stream(), dz, w, dx);
  }

 private:
  Tensor before_epilogue(BackwardContext& bctx) {
    if (epilogue == Epilogue::None) return bctx.gradient_of(y);
    const Tensor dy = as_rows(bctx.mutable_gradient_of(y));
    if (epilogue == Epilogue::Relu) {
      kernels::activation_backward(bctx.stream(), kernels::Activation::Relu, as_rows(y_value.value()), dy, {dy, false});
    } else {
      kernels::activation_backward(bctx.stream(), kernels::Activation::Gelu, pre.tensor(), dy, {dy, false});
    }
    y_value = Variable();
    pre = Scratch();
    return dy;
  }
};

void check(const Variable& x, const Parameter& weight, const Parameter* bias) {
  check_rank("nn::linear", weight, 2);
  check_features("nn::linear", x.shape(), weight.shape[1], weight);
  if (bias == nullptr || bias->shape == Shape{weight.shape[0]}) return;
  fail(ErrorCode::InvalidArgument,
       fmt::format("[nn::linear] '{}' {} has {} outputs; '{}' has shape {}", weight.name, weight.shape.to_string(),
                   weight.shape[0], bias->name, bias->shape.to_string()));
}

Init uniform_by_width(std::int64_t in) {
  return {Init::Kind::Uniform, in > 0 ? static_cast<float>(1 / std::sqrt(static_cast<double>(in))) : 0};
}

}  // namespace

Variable linear(Context& ctx, const Variable& x, const Parameter& weight, const Parameter* bias, Epilogue epilogue) {
  check(x, weight, bias);
  const bool is_trained = weight.is_trainable || (bias != nullptr && bias->is_trainable);
  Variable y =
      make_variable(ctx, with_features(x.shape(), weight.shape[0]), x.requires_grad() || is_trained, "linear output");
  Scratch pre;
  if (epilogue == Epilogue::Gelu && y.requires_grad()) {
    pre = Scratch(ctx, as_rows(y.value()).shape(), DType::F32, MemoryTag::Activations, "linear pre-activation");
  }
  const Tensor w = ctx.binding.value(weight);
  const Tensor b = bias != nullptr ? ctx.binding.value(*bias) : Tensor();
  kernels::linear_forward(ctx.stream, as_rows(x.value()), w, b, as_rows(y.value()), epilogue, pre.tensor());
  if (y.requires_grad()) {
    ctx.tape->record(y, LinearBackward{.to_x = x,
                                       .y = y,
                                       .x = weight.is_trainable ? x : Variable(),
                                       .y_value = epilogue == Epilogue::Relu ? y : Variable(),
                                       .pre = std::move(pre),
                                       .weight = &weight,
                                       .bias = bias,
                                       .epilogue = epilogue});
  }
  return y;
}

Linear::Linear(Module* parent, std::string name, std::int64_t in, std::int64_t out, bool has_bias)
    : Linear(parent, std::move(name), in, out, LinearOptions{.has_bias = has_bias}) {}

Linear::Linear(Module* parent, std::string name, std::int64_t in, std::int64_t out, const LinearOptions& options)
    : Module(parent, std::move(name), "Linear"),
      epilogue_(options.epilogue),
      weight_(add_parameter("weight", {out, in}, options.weight_init.value_or(uniform_by_width(in)), true)),
      bias_(options.has_bias ? &add_parameter("bias", {out}, options.bias_init.value_or(uniform_by_width(in)), false)
                             : nullptr) {}

Variable Linear::forward(Context& ctx, const Variable& x) { return linear(ctx, x, weight_, bias_, epilogue_); }

}  // namespace shoal::nn
