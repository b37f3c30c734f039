#include "shoal/runtime/base/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/int_math.h"

namespace shoal {

Shape::Shape(std::initializer_list<std::int64_t> dims)
    : Shape(std::span<const std::int64_t>(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const std::int64_t> dims) {
  if (dims.size() > static_cast<std::size_t>(kMaxDims)) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[shape] {} dimensions in ({}); at most {}", dims.size(), fmt::join(dims, ", "), kMaxDims));
  }
  if (std::any_of(dims.begin(), dims.end(), [](std::int64_t dim) { return dim < 0; })) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[shape] a negative extent in ({}); extents are 0 or more", fmt::join(dims, ", ")));
  }
  num_dims_ = static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), dims_.begin());
  // An empty tensor is empty however large its other extents are.
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) {
    numel_ = 0;
    return;
  }
  for (const std::int64_t dim : dims) numel_ = checked_mul(numel_, dim);
}

bool operator==(const Shape& a, const Shape& b) {
  return a.num_dims_ == b.num_dims_ && std::equal(a.dims().begin(), a.dims().end(), b.dims().begin());
}

std::string Shape::to_string() const { return fmt::format("({})", fmt::join(dims(), ", ")); }

}  // namespace shoal
