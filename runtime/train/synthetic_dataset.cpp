#include "shoal/runtime/train/synthetic_dataset.h"

#include <fmt/format.h>

#include "shoal/runtime/base/counter_rng.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/hash.h"

namespace shoal::train {
namespace {

const char* item_name_of(const SampleSpec& sample) {
  if (sample.inputs_dtype == DType::I32) return "tokens";
  return sample.inputs.num_dims() == 3 ? "images" : "rows";
}

// `numel` elements of sample `index`: ids below num_classes, or normal values.
void fill_values(std::uint64_t seed, std::uint64_t sequence, std::int64_t index, const Shape& shape, DType dtype,
                 std::int64_t num_classes, void* values) {
  const std::int64_t numel = shape.numel();
  for (std::int64_t i = 0; i < numel; ++i) {
    const auto element = static_cast<std::uint64_t>(index * numel + i);
    if (dtype == DType::I32) {
      const auto word = philox4x32(seed, element, sequence)[0];
      static_cast<std::int32_t*>(values)[i] = static_cast<std::int32_t>(word % static_cast<std::uint64_t>(num_classes));
    } else {
      static_cast<float*>(values)[i] = counter_normal(seed, sequence, element);
    }
  }
}

}  // namespace

SyntheticDataset::SyntheticDataset(const SampleSpec& sample, const Options& options)
    : Dataset("synthetic", sample, item_name_of(sample)), options_(options) {
  const bool needs_classes = sample.inputs_dtype == DType::I32 || sample.targets_dtype == DType::I32;
  if (options.train_size < 1 || options.test_size < 1 || (needs_classes && sample.num_classes < 1)) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[load_data] synthetic data with {} training samples, {} test samples and {} classes; each has to "
                     "be at least 1",
                     options.train_size, options.test_size, sample.num_classes));
  }
}

void SyntheticDataset::fill_sample(Split split, std::int64_t index, void* inputs, void* targets) const {
  const std::string split_text = split_name(split);
  const SampleSpec& spec = sample();
  fill_values(options_.seed, hash_text("synthetic inputs " + split_text), index, spec.inputs, spec.inputs_dtype,
              spec.num_classes, inputs);
  fill_values(options_.seed, hash_text("synthetic targets " + split_text), index, spec.targets, spec.targets_dtype,
              spec.num_classes, targets);
}

}  // namespace shoal::train
