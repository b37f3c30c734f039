#include "shoal/runtime/train/model_family.h"

#include "shoal/nn/models/model_name.h"
#include "shoal/runtime/base/error.h"

namespace shoal::train {
namespace {

FamilyDefaults image_defaults() {
  return {.data = "fashion-mnist",
          .optimizer = "sgd",
          .lr_schedule = "linear",
          .batch = 128,
          .epochs = 2,
          .lr = 0.1,
          .weight_decay = 5e-4,
          .warmup_share = 0.2};
}

FamilyDefaults language_defaults() {
  return {.data = "text",
          .optimizer = "adamw",
          .lr_schedule = "cosine",
          .batch = 8,
          .steps = 300,
          .lr = 1e-3,
          .weight_decay = 0.1,
          .clip_norm = 1,
          .warmup_share = 0.05};
}

FamilyDefaults chain_defaults() {
  return {.data = "synthetic", .optimizer = "adamw", .lr_schedule = "constant", .batch = 8, .steps = 100, .lr = 1e-3};
}

}  // namespace

FamilyDefaults family_defaults(const std::string& model) {
  using Family = nn::ModelName::Family;
  switch (nn::parse_model_name(model).family) {
    case Family::Mlp:
    case Family::ResNet9:
    case Family::ResNet18:
      return image_defaults();
    case Family::Gpt:
    case Family::Gpt2:
      return language_defaults();
    case Family::Chain:
      return chain_defaults();
  }
  fail(ErrorCode::Internal, "[config] unknown model family");
}

}  // namespace shoal::train
