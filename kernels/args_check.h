#pragma once

#include <cstdint>
#include <initializer_list>

#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

/// A tensor with the name that messages use for it.
struct NamedTensor {
  const char* name;
  const Tensor& tensor;
};

/// What an op checks before it enqueues anything. Every method throws InvalidArgument that names the op, the tensor,
/// what it is and what it has to be. Nothing is formatted unless a check fails.
class ArgsCheck {
 public:
  explicit ArgsCheck(const char* op) : op_(op) {}

  /// Throws Unsupported unless `stream` belongs to a host or sim device, whose ops are host tasks.
  void host_stream(const Stream& stream) const;

  /// Defined, of `dtype`, and of exactly this shape.
  void shape(const NamedTensor& arg, DType dtype, const Shape& want) const;
  /// Defined, of `dtype`, and with `num_dims` dimensions.
  void num_dims(const NamedTensor& arg, DType dtype, int num_dims) const;
  /// F32, (R, C), with at least one feature where there are rows.
  void feature_rows(const NamedTensor& arg) const;
  /// Defined, of `dtype`, and with `numel` elements in any shape.
  void numel(const NamedTensor& arg, DType dtype, std::int64_t numel) const;
  /// Defined and of `dtype`, in any shape.
  void dtype(const NamedTensor& arg, DType dtype) const;
  /// The step block: U8 of its size, aligned to 8 bytes.
  void step_block(const NamedTensor& arg) const;

  /// No output shares a byte with an input or with another output. Tensors that are none or empty are passed over.
  void apart(std::initializer_list<NamedTensor> outputs, std::initializer_list<NamedTensor> inputs) const;
  /// The two are the very same bytes, or share none.
  void same_or_apart(const NamedTensor& output, const NamedTensor& input) const;

  /// Throws InvalidArgument "[op] name is ..." for a value that an op can't take.
  [[noreturn]] void reject(const char* what, double value, const char* want) const;

 private:
  void defined(const NamedTensor& arg, DType dtype) const;
  [[noreturn]] void reject_overlap(const NamedTensor& a, const NamedTensor& b) const;

  const char* op_;
};

}  // namespace shoal::kernels
