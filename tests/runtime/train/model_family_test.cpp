#include "shoal/runtime/train/model_family.h"

#include "shoal/nn/models/registry.h"
#include "shoal/runtime/train/train_config.h"
#include "shoal/tests/runtime/train/expect_error.h"

namespace shoal::train {
namespace {

TEST(FamilyDefaults, EveryKnownModel_TrainsAtItsDefaults) {
  for (const nn::ModelInfo& info : nn::known_models()) {
    const FamilyDefaults defaults = family_defaults(info.example);
    EXPECT_FALSE(defaults.data.empty()) << info.name;
    EXPECT_GT(defaults.batch, 0) << info.name;
    EXPECT_NE(defaults.steps > 0, defaults.epochs > 0) << info.name;
    TrainConfig config;
    config.model = info.example;
    EXPECT_NO_THROW(resolve_config(config)) << info.name;
  }
}

TEST(FamilyDefaults, UnknownModel_NamesTheNearest) {
  test::expect_error(ErrorCode::InvalidArgument, {"resnet8", "resnet9"}, [] { family_defaults("resnet8"); });
}

}  // namespace
}  // namespace shoal::train
