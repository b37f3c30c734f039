#include "shoal/nn/models/registry.h"

#include <gtest/gtest.h>

#include "shoal/tests/support/model_check.h"
#include "shoal/tests/support/nn_world.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::test {
namespace {

TEST(Registry, EveryKnownModel_IsMadeFromItsExample) {
  for (const nn::ModelInfo& info : nn::known_models()) {
    const std::unique_ptr<nn::Model> model = nn::make_model(info.example, {});
    model->finalize();
    EXPECT_GT(num_parameters(*model), 0) << info.example;
    EXPECT_FALSE(info.text.empty());
  }
}

TEST(Registry, BatchSpec_IsWhatTheModelTakes) {
  const nn::ModelInputs inputs{.height = 8, .width = 8, .classes = 3, .vocabulary = 16, .context = 8};
  for (const std::string spec : {"mlp", "resnet9-4", "gpt-1x64", "chain-2x8"}) {
    const std::unique_ptr<nn::Model> model = nn::make_model(spec, inputs);
    check_model(*model, {.batch = nn::make_batch_spec(spec, inputs, 2), .id_bound = 3, .lr = 0.01, .steps = 2});
  }
}

TEST(Registry, BatchSpec_OfVectorsAndDefaults) {
  EXPECT_EQ(nn::make_batch_spec("mlp", {.features = 5}, 2).inputs, (Shape{2, 5}));
  EXPECT_EQ(nn::make_batch_spec("gpt-2x128", {}, 2).inputs, (Shape{2, 256}));
  EXPECT_EQ(nn::make_batch_spec("gpt2-124m", {}, 2).targets, (Shape{2, 1024}));
  EXPECT_EQ(nn::model_input_kind("mlp", {.features = 5}), nn::InputKind::Vectors);
  EXPECT_EQ(nn::model_input_kind("mlp", {}), nn::InputKind::Images);
  EXPECT_EQ(nn::model_input_kind("gpt2-1.5b", {}), nn::InputKind::Tokens);
  EXPECT_EQ(nn::model_input_kind("chain-2x8", {}), nn::InputKind::Vectors);
}

TEST(Registry, BenchmarkShapes_AreTaken) {
  const auto middle = nn::make_model("gpt-6x384", {.vocabulary = 512, .context = 256, .heads = 6});
  EXPECT_EQ(num_parameters(*middle), 6 * (12 * 384 * 384 + 13 * 384) + (512 + 256) * 384 + 2 * 384);
  const auto small = nn::make_model("gpt-2x128", {.vocabulary = 512, .context = 64, .heads = 4});
  EXPECT_EQ(num_parameters(*small), 2 * (12 * 128 * 128 + 13 * 128) + (512 + 64) * 128 + 2 * 128);
  const auto largest = nn::make_model("gpt2-1.5b", {});
  EXPECT_EQ(num_parameters(*largest), 48ll * (12 * 1600 * 1600 + 13 * 1600) + (50304 + 1024) * 1600 + 2 * 1600);
}

TEST(Registry, NumbersThatCannotWork_SayWhatWould) {
  expect_error(ErrorCode::InvalidArgument, {"gpt-2x100", "64 or 128"}, [] { nn::make_model("gpt-2x100", {}); });
  expect_error(ErrorCode::InvalidArgument, {"5 heads", "128"}, [] { nn::make_model("gpt-2x128", {.heads = 5}); });
  expect_error(ErrorCode::InvalidArgument, {"gpt2-124m", "2048", "1024"},
               [] { nn::make_model("gpt2-124m", {.context = 2048}); });
  expect_error(ErrorCode::InvalidArgument, {"resnet9", "4 x 28", "8 x 8"},
               [] { nn::make_model("resnet9", {.height = 4}); });
  expect_error(ErrorCode::InvalidArgument, {"chain-2x8", "8", "9"},
               [] { nn::make_model("chain-2x8", {.features = 9}); });
}

}  // namespace
}  // namespace shoal::test
