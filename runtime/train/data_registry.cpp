#include "shoal/runtime/train/data_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/nearest_name.h"
#include "shoal/runtime/train/cifar10.h"
#include "shoal/runtime/train/fashion_mnist.h"
#include "shoal/runtime/train/synthetic_dataset.h"
#include "shoal/runtime/train/text_dataset.h"

namespace shoal::train {
namespace {

// A data set is its name here, what may stand after the name (parse_data_name), what models it fits
// (check_data_fits_model), the form of its samples (expected_sample), and how it is loaded (load_data).
constexpr std::array<std::string_view, 4> kKinds = {"fashion-mnist", "cifar10", "text", "synthetic"};

[[noreturn]] void refuse(const std::string& data, const std::string& why) {
  fail(ErrorCode::InvalidArgument, fmt::format("[config] --data {}: {}", data, why));
}

// Without the batch dimension.
Shape sample_shape(const Shape& batch) { return Shape(batch.dims().subspan(1)); }

}  // namespace

DataName parse_data_name(const std::string& data) {
  const std::size_t colon = data.find(':');
  const bool has_argument = colon != std::string::npos;
  DataName name{data.substr(0, colon), has_argument ? data.substr(colon + 1) : ""};
  if (std::find(kKinds.begin(), kKinds.end(), name.kind) == kKinds.end()) {
    fail(ErrorCode::InvalidArgument, fmt::format("[config] --data {}", describe_unknown(name.kind, kKinds)));
  }
  if (has_argument && name.argument.empty()) refuse(data, "nothing is named after the colon");
  if (name.kind == "cifar10" && !has_argument) refuse(data, "the folder of its binary files is needed: cifar10:DIR");
  if (name.kind == "synthetic" && has_argument) refuse(data, "synthetic takes nothing after it");
  return name;
}

void check_data_fits_model(const std::string& data, const std::string& model) {
  const DataName name = parse_data_name(data);
  const nn::InputKind wanted = nn::model_input_kind(model, {});
  if (name.kind == "synthetic") return;
  const nn::InputKind given = name.kind == "text" ? nn::InputKind::Tokens : nn::InputKind::Images;
  if (given == wanted) return;
  switch (wanted) {
    case nn::InputKind::Images:
      refuse(data, fmt::format("--model {} takes images; fashion-mnist, cifar10:DIR or synthetic works", model));
    case nn::InputKind::Tokens:
      refuse(data, fmt::format("--model {} takes text; text, text:FILE or synthetic works", model));
    case nn::InputKind::Vectors:
      refuse(data, fmt::format("--model {} takes vectors; synthetic works", model));
  }
}

SampleSpec expected_sample(const std::string& data, const std::string& model) {
  check_data_fits_model(data, model);
  const DataName name = parse_data_name(data);
  if (name.kind == "fashion-mnist") return image_sample(fashion_mnist_format());
  if (name.kind == "cifar10") return image_sample(cifar10_format());
  // Text and made-up samples take the model's own form.
  const nn::ModelInputs inputs;
  const nn::BatchSpec one = nn::make_batch_spec(model, inputs, 1);
  SampleSpec sample{sample_shape(one.inputs), one.inputs_dtype, sample_shape(one.targets), one.targets_dtype, 0};
  if (one.inputs_dtype == DType::I32) {
    sample.num_classes = kNumBytes;
  } else if (one.targets_dtype == DType::I32) {
    sample.num_classes = inputs.classes;
  }
  return sample;
}

std::unique_ptr<Dataset> load_data(const std::string& data, const std::string& model, std::uint64_t seed,
                                   const std::stop_token& stop) {
  const SampleSpec sample = expected_sample(data, model);
  const DataName name = parse_data_name(data);
  if (name.kind == "fashion-mnist") {
    return load_fashion_mnist(name.argument.empty() ? kFashionMnistFolder : name.argument);
  }
  if (name.kind == "cifar10") return load_cifar10(name.argument);
  if (name.kind == "synthetic") {
    return std::make_unique<SyntheticDataset>(sample, SyntheticDataset::Options{.seed = seed});
  }
  const std::int64_t context = sample.inputs[0];
  return name.argument.empty() ? load_bible(context, stop) : load_text_file(name.argument, context);
}

nn::ModelInputs model_inputs_for(const SampleSpec& sample) {
  nn::ModelInputs inputs;
  const Shape& shape = sample.inputs;
  if (sample.inputs_dtype == DType::I32) {
    inputs.context = shape[0];
    inputs.vocabulary = sample.num_classes;
    return inputs;
  }
  if (sample.num_classes > 0) inputs.classes = sample.num_classes;
  if (shape.num_dims() == 3) {
    inputs.height = shape[0];
    inputs.width = shape[1];
    inputs.channels = shape[2];
  } else {
    inputs.features = shape[0];
  }
  return inputs;
}

}  // namespace shoal::train
