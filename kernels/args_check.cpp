#include "shoal/kernels/args_check.h"

#include <fmt/format.h>

#include <cstdint>

#include "shoal/kernels/step_block.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/device.h"

namespace shoal::kernels {
namespace {

std::uintptr_t address(const Tensor& tensor) { return reinterpret_cast<std::uintptr_t>(tensor.data()); }

bool shares_bytes(const Tensor& a, const Tensor& b) {
  const auto a_bytes = static_cast<std::uintptr_t>(a.num_bytes());
  const auto b_bytes = static_cast<std::uintptr_t>(b.num_bytes());
  if (a_bytes == 0 || b_bytes == 0) return false;
  return address(a) < address(b) + b_bytes && address(b) < address(a) + a_bytes;
}

}  // namespace

void ArgsCheck::host_stream(const Stream& stream) const {
  if (stream.device().kind() != DeviceKind::Cuda) return;
  fail(ErrorCode::Unsupported,
       fmt::format("[{}] has no CUDA kernel in this build; stream '{}' is on '{}'; use a host device", op_,
                   stream.name(), stream.device().name()));
}

void ArgsCheck::defined(const NamedTensor& arg, DType dtype) const {
  if (!arg.tensor.is_defined()) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[{}] {} is none; a {} tensor is required", op_, arg.name, dtype_name(dtype)));
  }
  if (arg.tensor.dtype() != dtype) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[{}] {} is {}; it must be {}", op_, arg.name, dtype_name(arg.tensor.dtype()), dtype_name(dtype)));
  }
}

void ArgsCheck::shape(const NamedTensor& arg, DType dtype, const Shape& want) const {
  defined(arg, dtype);
  if (arg.tensor.shape() == want) return;
  fail(ErrorCode::InvalidArgument, fmt::format("[{}] {} has shape {}; it must have {}", op_, arg.name,
                                               arg.tensor.shape().to_string(), want.to_string()));
}

void ArgsCheck::num_dims(const NamedTensor& arg, DType dtype, int num_dims) const {
  defined(arg, dtype);
  if (arg.tensor.shape().num_dims() == num_dims) return;
  fail(ErrorCode::InvalidArgument, fmt::format("[{}] {} has shape {}; it must have {} dimensions", op_, arg.name,
                                               arg.tensor.shape().to_string(), num_dims));
}

void ArgsCheck::feature_rows(const NamedTensor& arg) const {
  num_dims(arg, DType::F32, 2);
  const Shape& shape = arg.tensor.shape();
  if (shape[0] > 0 && shape[1] == 0) reject("the number of features", 0, "at least 1");
}

void ArgsCheck::numel(const NamedTensor& arg, DType dtype, std::int64_t numel) const {
  defined(arg, dtype);
  if (arg.tensor.numel() == numel) return;
  fail(ErrorCode::InvalidArgument, fmt::format("[{}] {} has shape {}, that is {} elements; it must have {}", op_,
                                               arg.name, arg.tensor.shape().to_string(), arg.tensor.numel(), numel));
}

void ArgsCheck::dtype(const NamedTensor& arg, DType dtype) const { defined(arg, dtype); }

void ArgsCheck::step_block(const NamedTensor& arg) const {
  numel(arg, DType::U8, static_cast<std::int64_t>(sizeof(StepBlock)));
  if (address(arg.tensor) % alignof(StepBlock) == 0) return;
  fail(ErrorCode::InvalidArgument,
       fmt::format("[{}] {} is at an address that is not a multiple of {}", op_, arg.name, alignof(StepBlock)));
}

void ArgsCheck::apart(std::initializer_list<NamedTensor> outputs, std::initializer_list<NamedTensor> inputs) const {
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    for (auto other = output + 1; other != outputs.end(); ++other) {
      if (shares_bytes(output->tensor, other->tensor)) reject_overlap(*output, *other);
    }
    for (const NamedTensor& input : inputs) {
      if (shares_bytes(output->tensor, input.tensor)) reject_overlap(*output, input);
    }
  }
}

void ArgsCheck::same_or_apart(const NamedTensor& output, const NamedTensor& input) const {
  const bool is_same =
      output.tensor.data() == input.tensor.data() && output.tensor.num_bytes() == input.tensor.num_bytes();
  if (!is_same && shares_bytes(output.tensor, input.tensor)) reject_overlap(output, input);
}

void ArgsCheck::reject(const char* what, double value, const char* want) const {
  fail(ErrorCode::InvalidArgument, fmt::format("[{}] {} is {}; it must be {}", op_, what, value, want));
}

void ArgsCheck::reject_overlap(const NamedTensor& a, const NamedTensor& b) const {
  fail(ErrorCode::InvalidArgument,
       fmt::format("[{}] {} and {} overlap: {} bytes at {} and {} bytes at {}; give them memory of their own", op_,
                   a.name, b.name, a.tensor.num_bytes(), a.tensor.data(), b.tensor.num_bytes(), b.tensor.data()));
}

}  // namespace shoal::kernels
