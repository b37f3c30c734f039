#include "shoal/nn/feature_rows.h"

#include <fmt/format.h>

#include <vector>

#include "shoal/runtime/base/error.h"

namespace shoal::nn {

Tensor as_rows(const Tensor& x) {
  const Shape& shape = x.shape();
  std::int64_t rows = 1;
  for (int dim = 0; dim + 1 < shape.num_dims(); ++dim) rows *= shape[dim];
  return x.reshaped(Shape{rows, shape.num_dims() == 0 ? 1 : shape[-1]});
}

Shape with_features(const Shape& shape, std::int64_t features) {
  std::array<std::int64_t, Shape::kMaxDims> dims{};
  const auto num_dims = static_cast<std::size_t>(shape.num_dims());
  for (std::size_t dim = 0; dim < num_dims; ++dim) dims[dim] = shape.dims()[dim];
  if (num_dims > 0) dims[num_dims - 1] = features;
  return Shape(std::span<const std::int64_t>(dims.data(), num_dims));
}

void check_features(const char* op, const Shape& shape, std::int64_t features, const Parameter& parameter) {
  if (shape.num_dims() > 0 && shape[-1] == features) return;
  fail(ErrorCode::InvalidArgument,
       fmt::format("[{}] x {} does not end in the {} features that '{}' {} takes", op, shape.to_string(), features,
                   parameter.name, parameter.shape.to_string()));
}

void check_rank(const char* op, const Parameter& parameter, int num_dims) {
  if (parameter.shape.num_dims() == num_dims) return;
  fail(ErrorCode::InvalidArgument, fmt::format("[{}] '{}' has shape {}; it needs {} dimensions", op, parameter.name,
                                               parameter.shape.to_string(), num_dims));
}

}  // namespace shoal::nn
