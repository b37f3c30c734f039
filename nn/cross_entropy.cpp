#include "shoal/nn/cross_entropy.h"

#include <fmt/format.h>

#include <span>

#include "shoal/kernels/cross_entropy.h"
#include "shoal/nn/feature_rows.h"
#include "shoal/nn/tape.h"
#include "shoal/runtime/base/error.h"

namespace shoal::nn {
namespace {

struct CrossEntropyBackward {
  Edge logits;
  Scratch dlogits;

  void operator()(BackwardContext& bctx) { bctx.set_gradient(logits, std::move(dlogits)); }
};

/// Each row of logits has its target: at its own place, or in the order of the rows.
bool is_fitting(const Shape& logits, const Shape& targets) {
  if (logits.num_dims() == 0) return false;
  const auto row_dims = static_cast<std::size_t>(logits.num_dims() - 1);
  if (targets == Shape(std::span(logits.dims()).first(row_dims))) return true;
  return targets.num_dims() == 1 && targets.numel() == with_features(logits, 1).numel();
}

}  // namespace

void cross_entropy(Context& ctx, Variable logits, const Tensor& targets) {
  if (!is_fitting(logits.shape(), targets.shape()) || targets.dtype() != DType::I32) {
    fail(ErrorCode::InvalidArgument,
         fmt::format(
             "[nn::cross_entropy] logits {} with targets {} {}; each row of logits needs one i32 target: logits' "
             "shape without the last extent, or as many targets in one dimension",
             logits.shape().to_string(), targets.shape().to_string(), dtype_name(targets.dtype())));
  }
  const Tensor rows = as_rows(logits.value());
  Scratch dlogits;
  if (ctx.tape != nullptr && logits.requires_grad()) {
    dlogits = take_memory(logits);
    if (!dlogits.is_held()) {
      dlogits = Scratch(ctx, logits.shape(), DType::F32, MemoryTag::Activations, "logits gradient");
    }
  }
  {
    const Scratch row_loss(ctx, {rows.shape()[0]}, DType::F64, MemoryTag::Workspace, "row losses");
    const Scratch row_correct(ctx, {rows.shape()[0]}, DType::U8, MemoryTag::Workspace, "row hits");
    kernels::CrossEntropy t;
    t.logits = rows;
    t.targets = targets.reshaped({targets.numel()});
    if (dlogits.is_held()) t.dlogits = as_rows(dlogits.tensor());
    t.row_loss = row_loss.tensor();
    t.row_correct = row_correct.tensor();
    t.block = ctx.block;
    kernels::cross_entropy(ctx.stream, t);
  }
  if (dlogits.is_held()) {
    ctx.tape->record_loss(CrossEntropyBackward{.logits = logits, .dlogits = std::move(dlogits)});
  }
}

}  // namespace shoal::nn
