#include "shoal/runtime/tensor/tensor.h"

#include <fmt/format.h>

#include "shoal/runtime/base/error.h"

namespace shoal {

Tensor Tensor::reshaped(const Shape& shape) const {
  if (!is_defined_ || shape.numel() != shape_.numel()) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[reshaped] a tensor of shape {} with {} elements cannot be seen as {}, which has {}",
                     is_defined_ ? shape_.to_string() : "none", numel(), shape.to_string(), shape.numel()));
  }
  return {data_, shape, dtype_};
}

Tensor Tensor::flat_slice(std::int64_t begin, std::int64_t numel) const {
  if (!is_defined_ || begin < 0 || numel < 0 || begin > shape_.numel() - numel) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[flat_slice] elements [{}, {} + {}) of a tensor of shape {} with {} elements", begin, begin,
                     numel, is_defined_ ? shape_.to_string() : "none", this->numel()));
  }
  auto* data = static_cast<unsigned char*>(data_);
  if (data != nullptr) data += begin * dtype_bytes(dtype_);
  return {data, Shape{numel}, dtype_};
}

}  // namespace shoal
