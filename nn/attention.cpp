#include "shoal/nn/attention.h"

#include <fmt/format.h>

#include "shoal/kernels/attention.h"
#include "shoal/nn/tape.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/device.h"

namespace shoal::nn {
namespace {

using kernels::AttentionShape;

Shape packed(const AttentionShape& s) { return {s.batch, s.sequence, 3, s.heads, s.head_width}; }
Shape by_head(const AttentionShape& s) { return {s.batch, s.sequence, s.heads, s.head_width}; }

struct AttentionBackward {
  Variable qkv;
  Variable out;
  Scratch log_sum_exp;  // (B, H, T)
  AttentionShape shape;

  void operator()(BackwardContext& bctx) {
    Context& ctx = bctx.forward_context();
    // The kernel only writes: where qkv has a gradient already, set_gradient adds.
    Scratch dqkv(ctx, packed(shape), DType::F32, MemoryTag::Activations, "gradient");
    {
      const std::int64_t bytes = kernels::attention_backward_workspace_bytes(shape, ctx.stream.device().num_workers());
      const Scratch workspace = make_workspace(ctx, bytes, "attention gradient");
      kernels::attention_backward(ctx.stream, shape,
                                  {.qkv = qkv.value().reshaped(packed(shape)),
                                   .out = out.value().reshaped(by_head(shape)),
                                   .log_sum_exp = log_sum_exp.tensor(),
                                   .dout = bctx.gradient_of(out).reshaped(by_head(shape)),
                                   .dqkv = dqkv.tensor(),
                                   .workspace = workspace.tensor()});
    }
    bctx.set_gradient(qkv, std::move(dqkv));
  }
};

AttentionShape checked_shape(const Shape& qkv, std::int64_t heads) {
  const bool is_packed = qkv.num_dims() == 3 && heads > 0 && qkv[2] % (3 * heads) == 0;
  const bool is_split = qkv.num_dims() == 5 && qkv[2] == 3 && qkv[3] == heads;
  if (!is_packed && !is_split) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[nn::causal_attention] qkv {} with {} heads; it must be (batch, sequence, 3 * {} * head width)",
                     qkv.to_string(), heads, heads));
  }
  return {.batch = qkv[0], .sequence = qkv[1], .heads = heads, .head_width = is_packed ? qkv[2] / (3 * heads) : qkv[4]};
}

}  // namespace

Variable causal_attention(Context& ctx, const Variable& qkv, std::int64_t heads) {
  const AttentionShape shape = checked_shape(qkv.shape(), heads);
  Variable out = make_variable(ctx, {shape.batch, shape.sequence, shape.heads * shape.head_width}, qkv.requires_grad(),
                               "attention output");
  Scratch log_sum_exp;
  if (out.requires_grad()) {
    log_sum_exp = Scratch(ctx, {shape.batch, shape.heads, shape.sequence}, DType::F32, MemoryTag::Activations,
                          "attention log-sum-exp");
  }
  kernels::attention_forward(ctx.stream, shape, qkv.value().reshaped(packed(shape)),
                             out.value().reshaped(by_head(shape)), log_sum_exp.tensor());
  if (out.requires_grad()) {
    ctx.tape->record(out,
                     AttentionBackward{.qkv = qkv, .out = out, .log_sum_exp = std::move(log_sum_exp), .shape = shape});
  }
  return out;
}

}  // namespace shoal::nn
