#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shoal/nn/model.h"

namespace shoal::nn {

/// What a model must fit: the data's form. Zero means the model's own.
struct ModelInputs {
  std::int64_t height = 28;  // images
  std::int64_t width = 28;
  std::int64_t channels = 1;
  std::int64_t classes = 10;
  std::int64_t vocabulary = 0;  // language models; gpt-LxD: 256 (bytes), gpt2-*: 50304
  std::int64_t context = 0;     // longest sequence; gpt-LxD: 256, gpt2-*: 1024
  std::int64_t heads = 0;       // gpt-LxD: width / 64
  std::int64_t features = 0;    // mlp: vectors of this width instead of images
};

/// What a batch of a model looks like.
enum class InputKind {
  Images,   // (B, H, W, C) F32, classes (B) I32
  Tokens,   // ids (B, T) I32, next ids (B, T) I32
  Vectors,  // (B, F) F32; targets classes (B) I32 for mlp, vectors (B, F) F32 for chain
};

/// A line of help.
struct ModelInfo {
  std::string name;     // as documented, "gpt-LxD"
  std::string example;  // as typed, "gpt-4x256"
  std::string text;
};

const std::vector<ModelInfo>& known_models();

/// Makes `spec`, one of known_models(). Throws InvalidArgument for an unknown name (with the nearest one and the list),
/// and for numbers that the model or the inputs rule out, saying what would work.
std::unique_ptr<Model> make_model(const std::string& spec, const ModelInputs& inputs);

/// What the model's batches are made of. Throws as make_model.
InputKind model_input_kind(const std::string& spec, const ModelInputs& inputs);

/// The form of a batch of `batch` items for the model: sequences of the full context. Throws as make_model.
BatchSpec make_batch_spec(const std::string& spec, const ModelInputs& inputs, std::int64_t batch);

}  // namespace shoal::nn
