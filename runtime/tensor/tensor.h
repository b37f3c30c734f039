#pragma once

#include <cstdint>

#include "shoal/runtime/base/dtype.h"
#include "shoal/runtime/base/shape.h"
#include "shoal/runtime/device/byte_range.h"

namespace shoal {

/// A view of dense row-major elements in device memory. Owns nothing: whoever holds the memory (a Buffer, a lease) must
/// outlive every enqueued operation that uses the view. A default-made Tensor means "none" where a contract allows it.
/// On the sim device `data` is an address that nothing may read.
class Tensor {
 public:
  Tensor() = default;
  Tensor(void* data, Shape shape, DType dtype) : data_(data), shape_(shape), dtype_(dtype), is_defined_(true) {}

  bool is_defined() const { return is_defined_; }
  void* data() const { return data_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  std::int64_t numel() const { return is_defined_ ? shape_.numel() : 0; }
  std::int64_t num_bytes() const { return numel() * dtype_bytes(dtype_); }

  /// What an operation that uses this view declares; empty for "none".
  operator ByteRange() const { return {data_, num_bytes()}; }  // NOLINT(google-explicit-constructor)

  /// The same elements under another shape. Throws InvalidArgument where the element counts differ.
  Tensor reshaped(const Shape& shape) const;
  /// Elements [begin, begin + numel) as a 1-D view. Throws InvalidArgument outside the tensor.
  Tensor flat_slice(std::int64_t begin, std::int64_t numel) const;

 private:
  void* data_ = nullptr;
  Shape shape_;
  DType dtype_ = DType::F32;
  bool is_defined_ = false;
};

}  // namespace shoal
