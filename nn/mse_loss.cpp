#include "shoal/nn/mse_loss.h"

#include <fmt/format.h>

#include "shoal/kernels/mse_loss.h"
#include "shoal/nn/tape.h"
#include "shoal/runtime/base/error.h"

namespace shoal::nn {
namespace {

struct MseLossBackward {
  Edge y;
  Scratch dy;

  void operator()(BackwardContext& bctx) { bctx.set_gradient(y, std::move(dy)); }
};

}  // namespace

void mse_loss(Context& ctx, Variable y, const Tensor& targets) {
  if (!(y.shape() == targets.shape()) || targets.dtype() != DType::F32) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[nn::mse_loss] y {} with targets {} {}; they must be of the same shape, fp32",
                     y.shape().to_string(), targets.shape().to_string(), dtype_name(targets.dtype())));
  }
  const Tensor value = y.value();
  Scratch dy;
  if (ctx.tape != nullptr && y.requires_grad()) {
    dy = take_memory(y);
    if (!dy.is_held()) dy = Scratch(ctx, y.shape(), DType::F32, MemoryTag::Activations, "loss gradient");
  }
  kernels::mse_loss(ctx.stream, value, targets, dy.tensor(), ctx.block);
  if (dy.is_held()) ctx.tape->record_loss(MseLossBackward{.y = y, .dy = std::move(dy)});
}

}  // namespace shoal::nn
