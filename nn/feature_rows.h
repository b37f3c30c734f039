#pragma once

#include <cstdint>

#include "shoal/nn/parameter.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::nn {

/// x (..., C) as (R, C): all dimensions but the last are rows.
Tensor as_rows(const Tensor& x);

/// `shape` with another last extent.
Shape with_features(const Shape& shape, std::int64_t features);

/// Throws InvalidArgument, naming the operation and the parameter, unless `shape` ends in `features`.
void check_features(const char* op, const Shape& shape, std::int64_t features, const Parameter& parameter);

/// Throws InvalidArgument unless the parameter has `num_dims` dimensions.
void check_rank(const char* op, const Parameter& parameter, int num_dims);

}  // namespace shoal::nn
