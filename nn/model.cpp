#include "shoal/nn/model.h"

#include "shoal/nn/cross_entropy.h"

namespace shoal::nn {

void Model::loss(Context& ctx, const Batch& batch) { cross_entropy(ctx, predict(ctx, batch.inputs), batch.targets); }

}  // namespace shoal::nn
