#include "shoal/runtime/train/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "shoal/runtime/base/error.h"

namespace shoal::train {
namespace {

Shape with_batch(const Shape& sample, std::int64_t batch) {
  std::vector<std::int64_t> dims{batch};
  dims.insert(dims.end(), sample.dims().begin(), sample.dims().end());
  return Shape(dims);
}

void check_tensor(const char* what, const Tensor& tensor, const Shape& shape, DType dtype) {
  if (tensor.shape() == shape && tensor.dtype() == dtype) return;
  fail(ErrorCode::InvalidArgument,
       fmt::format("[fill_batch] {} are {} {}; this data set gives {} {}", what, dtype_name(tensor.dtype()),
                   tensor.shape().to_string(), dtype_name(dtype), shape.to_string()));
}

}  // namespace

const char* split_name(Split split) { return split == Split::Train ? "train" : "test"; }

nn::BatchSpec batch_spec(const SampleSpec& sample, std::int64_t batch) {
  return {with_batch(sample.inputs, batch), sample.inputs_dtype, with_batch(sample.targets, batch),
          sample.targets_dtype};
}

void Dataset::fill_batch(Split split, std::span<const SampleRef> samples, const Tensor& inputs,
                         const Tensor& targets) const {
  const nn::BatchSpec spec = batch_spec(sample_, static_cast<std::int64_t>(samples.size()));
  check_tensor("inputs", inputs, spec.inputs, spec.inputs_dtype);
  check_tensor("targets", targets, spec.targets, spec.targets_dtype);
  const auto input_bytes = static_cast<std::size_t>(sample_.inputs.numel() * dtype_bytes(sample_.inputs_dtype));
  const auto target_bytes = static_cast<std::size_t>(sample_.targets.numel() * dtype_bytes(sample_.targets_dtype));
  const std::int64_t num_samples = size(split);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    auto* input = inputs.as<unsigned char>() + i * input_bytes;
    auto* target = targets.as<unsigned char>() + i * target_bytes;
    const std::int64_t index = samples[i].index;
    if (index == SampleRef::kPadding && sample_.targets_dtype == DType::I32) {
      std::memset(input, 0, input_bytes);
      std::fill_n(reinterpret_cast<std::int32_t*>(target), sample_.targets.numel(), -1);
      continue;
    }
    if (index < 0 || index >= num_samples) {
      fail(ErrorCode::InvalidArgument, fmt::format("[fill_batch] sample {} is outside the {} split of {}, which has {}",
                                                   index, split_name(split), name_, num_samples));
    }
    fill_sample(split, index, input, target);
  }
}

}  // namespace shoal::train
