#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace shoal {

/// Extents of a dense row-major tensor, at most kMaxDims of them; rank 0 is a scalar with one element.
/// A value without an allocation: it is copied into every operation.
class Shape {
 public:
  static constexpr int kMaxDims = 6;

  Shape() = default;
  /// Throws InvalidArgument on more than kMaxDims extents, a negative one, or a product beyond int64.
  Shape(std::initializer_list<std::int64_t> dims);
  explicit Shape(std::span<const std::int64_t> dims);

  int num_dims() const { return num_dims_; }
  /// Extent of dimension `dim`; negative counts from the end. Unchecked outside [-num_dims, num_dims).
  std::int64_t operator[](int dim) const { return dims_[static_cast<std::size_t>(dim < 0 ? dim + num_dims_ : dim)]; }
  std::int64_t numel() const { return numel_; }
  std::span<const std::int64_t> dims() const { return {dims_.data(), static_cast<std::size_t>(num_dims_)}; }

  friend bool operator==(const Shape& a, const Shape& b);

  /// "(2, 3, 4)"; "()" for a scalar.
  std::string to_string() const;

 private:
  std::array<std::int64_t, kMaxDims> dims_{};
  std::int64_t numel_ = 1;
  int num_dims_ = 0;
};

}  // namespace shoal
