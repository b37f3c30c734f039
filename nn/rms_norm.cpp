#include "shoal/nn/rms_norm.h"

#include "shoal/kernels/rms_norm.h"
#include "shoal/nn/feature_rows.h"
#include "shoal/nn/tape.h"

namespace shoal::nn {
namespace {

struct RmsNormBackward {
  Variable x;
  Edge y;
  Scratch rrms;  // (R)
  const Parameter* weight;

  void operator()(BackwardContext& bctx) {
    kernels::RmsNormBackward t;
    t.x = as_rows(x.value());
    t.dy = as_rows(bctx.gradient_of(y));
    t.rrms = rrms.tensor();
    t.dx = bctx.target_for(x);
    if (t.dx.is_wanted()) t.dx.tensor = as_rows(t.dx.tensor);
    t.gamma = bctx.value_of(*weight);
    t.dgamma = bctx.target_for(*weight);
    kernels::rms_norm_backward(bctx.stream(), t);
  }
};

}  // namespace

Variable rms_norm(Context& ctx, const Variable& x, const Parameter& weight, float epsilon) {
  check_rank("nn::rms_norm", weight, 1);
  check_features("nn::rms_norm", x.shape(), weight.shape[0], weight);
  Variable y = make_variable(ctx, x.shape(), x.requires_grad() || weight.is_trainable, "rms norm output");
  const Tensor x_rows = as_rows(x.value());
  Scratch rrms;
  if (y.requires_grad()) {
    rrms = Scratch(ctx, {x_rows.shape()[0]}, DType::F32, MemoryTag::Activations, "rms norm statistics");
  }
  const Tensor gamma = ctx.binding.value(weight);
  kernels::rms_norm_forward(ctx.stream, x_rows, gamma, as_rows(y.value()), rrms.tensor(), epsilon);
  if (y.requires_grad()) {
    ctx.tape->record(y, RmsNormBackward{.x = x, .y = y, .rrms = std::move(rrms), .weight = &weight});
  }
  return y;
}

RmsNorm::RmsNorm(Module* parent, std::string name, std::int64_t features, float epsilon)
    : Module(parent, std::move(name), "RmsNorm"),
      epsilon_(epsilon),
      weight_(add_parameter("weight", {features}, {Init::Kind::Constant, 1}, false)) {}

Variable RmsNorm::forward(Context& ctx, const Variable& x) { return rms_norm(ctx, x, weight_, epsilon_); }

}  // namespace shoal::nn
