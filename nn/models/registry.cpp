#include "shoal/nn/models/registry.h"

#include <fmt/format.h>

#include <algorithm>

#include "shoal/nn/models/chain.h"
#include "shoal/nn/models/gpt.h"
#include "shoal/nn/models/mlp.h"
#include "shoal/nn/models/model_name.h"
#include "shoal/nn/models/resnet.h"
#include "shoal/runtime/base/error.h"

namespace shoal::nn {
namespace {

using Family = ModelName::Family;

constexpr std::int64_t kHeadWidth = 64;

void check_images(const std::string& spec, const ModelInputs& inputs, std::int64_t smallest) {
  if (inputs.channels >= 1 && inputs.classes >= 1 && std::min(inputs.height, inputs.width) >= smallest) return;
  fail(
      ErrorCode::InvalidArgument,
      fmt::format("[make_model] {} for images of {} x {} x {} and {} classes; it takes images of at least {} x {} with "
                  "a channel and a class",
                  spec, inputs.height, inputs.width, inputs.channels, inputs.classes, smallest, smallest));
}

std::int64_t or_default(std::int64_t value, std::int64_t by_default) { return value == 0 ? by_default : value; }

GptConfig gpt_config(const std::string& spec, const ModelName& name, const ModelInputs& inputs) {
  if (inputs.heads == 0 && name.width % kHeadWidth != 0) {
    const std::int64_t below = name.width / kHeadWidth * kHeadWidth;
    fail(
        ErrorCode::InvalidArgument,
        fmt::format("[make_model] {}: heads are {} wide, so the width {} must be a multiple of it; {} or {} would work",
                    spec, kHeadWidth, name.width, std::max(below, kHeadWidth), below + kHeadWidth));
  }
  return {.layers = name.layers,
          .width = name.width,
          .heads = or_default(inputs.heads, name.width / kHeadWidth),
          .context = or_default(inputs.context, 256),
          .vocabulary = or_default(inputs.vocabulary, 256)};
}

/// GPT-2's tables have one size; shorter sequences and smaller vocabularies use a part of them.
GptConfig gpt2_config(const std::string& spec, const ModelName& name, const ModelInputs& inputs) {
  const GptConfig config{.layers = name.layers,
                         .width = name.width,
                         .heads = name.width / kHeadWidth,
                         .context = 1024,
                         .vocabulary = 50304};
  if (inputs.context > config.context || inputs.vocabulary > config.vocabulary ||
      (inputs.heads != 0 && inputs.heads != config.heads)) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[make_model] {} with context {}, vocabulary {} and {} heads; it has {}, {} and {}, and takes no "
                     "more: gpt-LxD has any",
                     spec, inputs.context, inputs.vocabulary, inputs.heads, config.context, config.vocabulary,
                     config.heads));
  }
  return config;
}

ChainConfig chain_config(const std::string& spec, const ModelName& name, const ModelInputs& inputs) {
  if (inputs.features != 0 && inputs.features != name.width) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[make_model] {} takes vectors of {} elements, not {}", spec, name.width, inputs.features));
  }
  return {.layers = name.layers, .width = name.width};
}

MlpConfig mlp_config(const std::string& spec, const ModelInputs& inputs) {
  if (inputs.features == 0) check_images(spec, inputs, 1);
  return {.features = or_default(inputs.features, inputs.height * inputs.width * inputs.channels),
          .classes = inputs.classes};
}

}  // namespace

const std::vector<ModelInfo>& known_models() {
  static const std::vector<ModelInfo> models = {
      {"mlp", "mlp", "two hidden layers of 256 with ReLU"},
      {"resnet9[-WIDTH]", "resnet9-16", "small residual network for small images; 16 wide unless told"},
      {"resnet18", "resnet18", "ResNet-18 in its CIFAR form"},
      {"gpt-LxD", "gpt-4x256", "GPT-2 of L layers and width D, a multiple of 64; context and vocabulary 256"},
      {"gpt2-124m", "gpt2-124m", "GPT-2 small: 12 layers of 768; context 1024, vocabulary 50304"},
      {"gpt2-355m", "gpt2-355m", "GPT-2 medium: 24 layers of 1024"},
      {"gpt2-774m", "gpt2-774m", "GPT-2 large: 36 layers of 1280"},
      {"gpt2-1.5b", "gpt2-1.5b", "GPT-2 XL: 48 layers of 1600"},
      {"chain-NxD", "chain-100x64", "N linear layers of width D with ReLU, squared error: host cost per unit"},
  };
  return models;
}

std::unique_ptr<Model> make_model(const std::string& spec, const ModelInputs& inputs) {
  const ModelName name = parse_model_name(spec);
  switch (name.family) {
    case Family::Mlp:
      return std::make_unique<Mlp>(mlp_config(spec, inputs));
    case Family::ResNet9:
      check_images(spec, inputs, 8);
      return std::make_unique<ResNet9>(ImageConfig{inputs.channels, inputs.classes}, name.width);
    case Family::ResNet18:
      check_images(spec, inputs, 1);
      return std::make_unique<ResNet18>(ImageConfig{inputs.channels, inputs.classes});
    case Family::Gpt:
      return std::make_unique<Gpt>(gpt_config(spec, name, inputs));
    case Family::Gpt2:
      return std::make_unique<Gpt>(gpt2_config(spec, name, inputs));
    case Family::Chain:
      break;
  }
  return std::make_unique<Chain>(chain_config(spec, name, inputs));
}

InputKind model_input_kind(const std::string& spec, const ModelInputs& inputs) {
  switch (parse_model_name(spec).family) {
    case Family::Mlp:
      return inputs.features == 0 ? InputKind::Images : InputKind::Vectors;
    case Family::ResNet9:
    case Family::ResNet18:
      return InputKind::Images;
    case Family::Gpt:
    case Family::Gpt2:
      return InputKind::Tokens;
    case Family::Chain:
      break;
  }
  return InputKind::Vectors;
}

BatchSpec make_batch_spec(const std::string& spec, const ModelInputs& inputs, std::int64_t batch) {
  const ModelName name = parse_model_name(spec);
  switch (name.family) {
    case Family::Mlp:
      if (inputs.features != 0) return {.inputs = {batch, inputs.features}, .targets = {batch}};
      [[fallthrough]];
    case Family::ResNet9:
    case Family::ResNet18:
      return {.inputs = {batch, inputs.height, inputs.width, inputs.channels}, .targets = {batch}};
    case Family::Gpt:
    case Family::Gpt2: {
      const std::int64_t context = or_default(inputs.context, name.family == Family::Gpt ? 256 : 1024);
      return {.inputs = {batch, context}, .inputs_dtype = DType::I32, .targets = {batch, context}};
    }
    case Family::Chain:
      break;
  }
  return {.inputs = {batch, name.width}, .targets = {batch, name.width}, .targets_dtype = DType::F32};
}

}  // namespace shoal::nn
