#include "shoal/runtime/fsdp/batch_check.h"

#include <fmt/core.h>

#include "shoal/runtime/base/error.h"

namespace shoal::fsdp {
namespace {

void check(const char* operation, const char* what, const Tensor& tensor, const Shape& shape, DType dtype) {
  if (tensor.is_defined() && tensor.shape() == shape && tensor.dtype() == dtype) return;
  const std::string got = tensor.is_defined()
                              ? fmt::format("{} of shape {}", dtype_name(tensor.dtype()), tensor.shape().to_string())
                              : std::string("undefined");
  fail(ErrorCode::InvalidArgument,
       fmt::format("[{}] the {} are {}, and the pass is planned for {} of shape {}; batches "
                   "must be as ShardOptions announced them",
                   operation, what, got, dtype_name(dtype), shape.to_string()));
}

}  // namespace

void check_batch(const char* operation, const nn::Batch& batch, const nn::BatchSpec& spec) {
  check_inputs(operation, batch.inputs, spec);
  check(operation, "targets", batch.targets, spec.targets, spec.targets_dtype);
}

void check_inputs(const char* operation, const Tensor& inputs, const nn::BatchSpec& spec) {
  check(operation, "inputs", inputs, spec.inputs, spec.inputs_dtype);
}

}  // namespace shoal::fsdp
