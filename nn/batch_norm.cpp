#include "shoal/nn/batch_norm.h"

#include <fmt/format.h>

#include "shoal/kernels/batch_norm.h"
#include "shoal/nn/feature_rows.h"
#include "shoal/nn/tape.h"
#include "shoal/runtime/base/error.h"

namespace shoal::nn {
namespace {

struct BatchNormBackward {
  Variable x;
  Variable y_value;  // with relu: its zeros mask the gradient
  Edge y;
  Scratch statistics;  // (2, C): mean, rstd
  const Parameter* weight;
  const Parameter* bias;

  void operator()(BackwardContext& bctx) {
    const std::int64_t channels = weight->shape.numel();
    kernels::BatchNormBackward t;
    t.x = as_rows(x.value());
    t.relu = y_value.is_defined();
    if (t.relu) t.y = as_rows(y_value.value());
    t.dy = as_rows(bctx.gradient_of(y));
    t.mean = statistics.tensor().flat_slice(0, channels);
    t.rstd = statistics.tensor().flat_slice(channels, channels);
    t.dx = bctx.target_for(x);
    if (t.dx.is_wanted()) t.dx.tensor = as_rows(t.dx.tensor);
    t.gamma = bctx.value_of(*weight);
    t.dgamma = bctx.target_for(*weight);
    t.dbeta = bctx.target_for(*bias);
    kernels::batch_norm_backward(bctx.stream(), t);
  }
};

void check(const Variable& x, const BatchNormState& state) {
  check_rank("nn::batch_norm", state.weight, 1);
  check_features("nn::batch_norm", x.shape(), state.weight.shape[0], state.weight);
  for (const Shape& shape : {state.bias.shape, state.running_mean.shape, state.running_variance.shape}) {
    if (shape == state.weight.shape) continue;
    fail(ErrorCode::InvalidArgument,
         fmt::format("[nn::batch_norm] '{}' has shape {}; bias and running statistics need the same, not {}",
                     state.weight.name, state.weight.shape.to_string(), shape.to_string()));
  }
}

Variable normalise_by_running(Context& ctx, const Variable& x, const BatchNormState& state, float epsilon, bool relu) {
  if (ctx.tape != nullptr && (x.requires_grad() || state.weight.is_trainable || state.bias.is_trainable)) {
    fail(ErrorCode::Unsupported,
         fmt::format("[nn::batch_norm] '{}' normalises by running statistics in a pass that records gradients; use "
                     "batch statistics, or record nothing",
                     state.weight.name));
  }
  Variable y = make_variable(ctx, x.shape(), false, "batch norm output");
  kernels::BatchNormInference t;
  t.x = as_rows(x.value());
  t.gamma = ctx.binding.value(state.weight);
  t.beta = ctx.binding.value(state.bias);
  t.running_mean = ctx.binding.running(state.running_mean);
  t.running_variance = ctx.binding.running(state.running_variance);
  t.y = as_rows(y.value());
  t.epsilon = epsilon;
  t.relu = relu;
  kernels::batch_norm_inference(ctx.stream, t);
  return y;
}

}  // namespace

Variable batch_norm(Context& ctx, const Variable& x, const BatchNormState& state, float epsilon, bool relu) {
  check(x, state);
  if (!ctx.uses_batch_statistics) return normalise_by_running(ctx, x, state, epsilon, relu);
  const std::int64_t channels = state.weight.shape[0];
  Variable y = make_variable(ctx, x.shape(), x.requires_grad() || state.weight.is_trainable || state.bias.is_trainable,
                             "batch norm output");
  Scratch statistics(ctx, {2, channels}, DType::F32, MemoryTag::Activations, "batch norm statistics");
  kernels::BatchNormForward t;
  t.x = as_rows(x.value());
  t.gamma = ctx.binding.value(state.weight);
  t.beta = ctx.binding.value(state.bias);
  t.y = as_rows(y.value());
  t.mean = statistics.tensor().flat_slice(0, channels);
  t.rstd = statistics.tensor().flat_slice(channels, channels);
  t.staged_mean = ctx.binding.staged(state.running_mean);
  t.staged_variance = ctx.binding.staged(state.running_variance);
  t.epsilon = epsilon;
  t.relu = relu;
  kernels::batch_norm_forward(ctx.stream, t);
  if (y.requires_grad()) {
    ctx.tape->record(y, BatchNormBackward{.x = x,
                                          .y_value = relu ? y : Variable(),
                                          .y = y,
                                          .statistics = std::move(statistics),
                                          .weight = &state.weight,
                                          .bias = &state.bias});
  }
  return y;
}

BatchNorm::BatchNorm(Module* parent, std::string name, std::int64_t channels, const BatchNormOptions& options)
    : Module(parent, std::move(name), "BatchNorm"),
      options_(options),
      weight_(add_parameter("weight", {channels}, {Init::Kind::Constant, 1}, false)),
      bias_(add_parameter("bias", {channels}, {Init::Kind::Constant, 0}, false)),
      running_mean_(add_state_buffer("running_mean", {channels}, 0, options.momentum)),
      running_variance_(add_state_buffer("running_var", {channels}, 1, options.momentum)) {}

Variable BatchNorm::forward(Context& ctx, const Variable& x) {
  return batch_norm(ctx, x, {weight_, bias_, running_mean_, running_variance_}, options_.epsilon, options_.relu);
}

}  // namespace shoal::nn
