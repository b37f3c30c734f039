#include "shoal/nn/embedding.h"

#include <fmt/format.h>

#include "shoal/kernels/embedding.h"
#include "shoal/nn/feature_rows.h"
#include "shoal/nn/tape.h"
#include "shoal/runtime/base/error.h"

namespace shoal::nn {
namespace {

struct EmbeddingBackward {
  Tensor ids;
  Edge y;
  const Parameter* table;
  const Parameter* positions;

  void operator()(BackwardContext& bctx) {
    const Tensor dy = bctx.gradient_of(y);
    const auto dtable = bctx.target_for(*table);
    const auto dpositions = positions != nullptr ? bctx.target_for(*positions) : kernels::GradTarget();
    kernels::embedding_backward(bctx.stream(), ids, dy, dtable, dpositions);
  }
};

void check(const Tensor& ids, const Parameter& table, const Parameter* positions) {
  check_rank("nn::embedding", table, 2);
  if (ids.shape().num_dims() != 2 || ids.dtype() != DType::I32) {
    fail(ErrorCode::InvalidArgument, fmt::format("[nn::embedding] ids for '{}' are {} {}; they must be (batch, "
                                                 "sequence) i32",
                                                 table.name, ids.shape().to_string(), dtype_name(ids.dtype())));
  }
  if (positions == nullptr) return;
  check_rank("nn::embedding", *positions, 2);
  check_features("nn::embedding", positions->shape, table.shape[1], table);
  if (ids.shape()[1] > positions->shape[0]) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[nn::embedding] a sequence of {} is longer than '{}' {} allows; shorten it to {}", ids.shape()[1],
                     positions->name, positions->shape.to_string(), positions->shape[0]));
  }
}

}  // namespace

Variable embedding(Context& ctx, const Tensor& ids, const Parameter& table, const Parameter* positions) {
  check(ids, table, positions);
  Variable y =
      make_variable(ctx, {ids.shape()[0], ids.shape()[1], table.shape[1]},
                    table.is_trainable || (positions != nullptr && positions->is_trainable), "embedding output");
  const Tensor rows = ctx.binding.value(table);
  const Tensor added = positions != nullptr ? ctx.binding.value(*positions) : Tensor();
  kernels::embedding_forward(ctx.stream, ids, rows, added, y.value());
  if (y.requires_grad()) {
    ctx.tape->record(y, EmbeddingBackward{.ids = ids, .y = y, .table = &table, .positions = positions});
  }
  return y;
}

Embedding::Embedding(Module* parent, std::string name, std::int64_t rows, std::int64_t features, Init init)
    : Module(parent, std::move(name), "Embedding"), weight_(add_parameter("weight", {rows, features}, init, true)) {}

Variable Embedding::operator()(Context& ctx, const Tensor& ids) {
  return call(ctx, [&] { return embedding(ctx, ids, weight_); });
}

}  // namespace shoal::nn
