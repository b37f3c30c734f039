#pragma once

#include "shoal/kernels/embedding.h"

namespace shoal::kernels::host {

void embedding_forward(Stream& stream, const Tensor& ids, const Tensor& table, const Tensor& positions,
                       const Tensor& y);
void embedding_backward(Stream& stream, const Tensor& ids, const Tensor& dy, const GradTarget& dtable,
                        const GradTarget& dpositions);

}  // namespace shoal::kernels::host
