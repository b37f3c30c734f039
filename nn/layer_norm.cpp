#include "shoal/nn/layer_norm.h"

#include "shoal/kernels/layer_norm.h"
#include "shoal/nn/feature_rows.h"
#include "shoal/nn/tape.h"

namespace shoal::nn {
namespace {

struct LayerNormBackward {
  Variable x;
  Edge y;
  Scratch statistics;  // (2, R): mean, rstd
  const Parameter* weight;
  const Parameter* bias;

  void operator()(BackwardContext& bctx) {
    kernels::LayerNormBackward t;
    t.x = as_rows(x.value());
    const std::int64_t rows = t.x.shape()[0];
    t.dy = as_rows(bctx.gradient_of(y));
    t.mean = statistics.tensor().flat_slice(0, rows);
    t.rstd = statistics.tensor().flat_slice(rows, rows);
    t.dx = bctx.target_for(x);
    if (t.dx.is_wanted()) t.dx.tensor = as_rows(t.dx.tensor);
    t.gamma = bctx.value_of(*weight);
    t.dgamma = bctx.target_for(*weight);
    t.dbeta = bctx.target_for(*bias);
    kernels::layer_norm_backward(bctx.stream(), t);
  }
};

}  // namespace

Variable layer_norm(Context& ctx, const Variable& x, const Parameter& weight, const Parameter& bias, float epsilon) {
  check_rank("nn::layer_norm", weight, 1);
  check_features("nn::layer_norm", x.shape(), weight.shape[0], weight);
  check_features("nn::layer_norm", bias.shape, weight.shape[0], weight);
  Variable y =
      make_variable(ctx, x.shape(), x.requires_grad() || weight.is_trainable || bias.is_trainable, "layer norm output");
  kernels::LayerNormForward t;
  t.x = as_rows(x.value());
  t.y = as_rows(y.value());
  const std::int64_t rows = t.x.shape()[0];
  Scratch statistics;
  if (y.requires_grad()) {
    statistics = Scratch(ctx, {2, rows}, DType::F32, MemoryTag::Activations, "layer norm statistics");
    t.mean = statistics.tensor().flat_slice(0, rows);
    t.rstd = statistics.tensor().flat_slice(rows, rows);
  }
  t.gamma = ctx.binding.value(weight);
  t.beta = ctx.binding.value(bias);
  t.epsilon = epsilon;
  kernels::layer_norm_forward(ctx.stream, t);
  if (y.requires_grad()) {
    ctx.tape->record(
        y, LayerNormBackward{.x = x, .y = y, .statistics = std::move(statistics), .weight = &weight, .bias = &bias});
  }
  return y;
}

LayerNorm::LayerNorm(Module* parent, std::string name, std::int64_t features, float epsilon)
    : Module(parent, std::move(name), "LayerNorm"),
      epsilon_(epsilon),
      weight_(add_parameter("weight", {features}, {Init::Kind::Constant, 1}, false)),
      bias_(add_parameter("bias", {features}, {Init::Kind::Constant, 0}, false)) {}

Variable LayerNorm::forward(Context& ctx, const Variable& x) { return layer_norm(ctx, x, weight_, bias_, epsilon_); }

}  // namespace shoal::nn
