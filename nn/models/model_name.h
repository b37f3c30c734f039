#pragma once

#include <cstdint>
#include <string>

namespace shoal::nn {

/// A model's name, taken apart: "gpt-6x384" is Gpt, 6, 384.
struct ModelName {
  enum class Family { Mlp, ResNet9, ResNet18, Gpt, Gpt2, Chain } family = Family::Mlp;
  std::int64_t layers = 0;
  std::int64_t width = 0;
};

/// Throws InvalidArgument, with the nearest known name and the list, for anything that is not one of known_models().
ModelName parse_model_name(const std::string& spec);

}  // namespace shoal::nn
