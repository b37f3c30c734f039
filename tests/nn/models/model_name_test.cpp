#include "shoal/nn/models/model_name.h"

#include <gtest/gtest.h>

#include "shoal/tests/support/op_harness.h"

namespace shoal::test {
namespace {

using Family = nn::ModelName::Family;

void expect_name(const std::string& spec, Family family, std::int64_t layers, std::int64_t width) {
  const nn::ModelName name = nn::parse_model_name(spec);
  EXPECT_EQ(name.family, family) << spec;
  EXPECT_EQ(name.layers, layers) << spec;
  EXPECT_EQ(name.width, width) << spec;
}

TEST(ModelName, KnownForms_AreTakenApart) {
  expect_name("mlp", Family::Mlp, 0, 0);
  expect_name("resnet9", Family::ResNet9, 0, 16);
  expect_name("resnet9-64", Family::ResNet9, 0, 64);
  expect_name("resnet18", Family::ResNet18, 0, 0);
  expect_name("gpt-6x384", Family::Gpt, 6, 384);
  expect_name("gpt2-355m", Family::Gpt2, 24, 1024);
  expect_name("gpt2-1.5b", Family::Gpt2, 48, 1600);
  expect_name("chain-100x64", Family::Chain, 100, 64);
}

TEST(ModelName, UnknownNames_SuggestTheNearestAndListAll) {
  const auto refuse = [](const std::string& spec, const std::string& nearest) {
    expect_error(ErrorCode::InvalidArgument, {"'" + spec + "'", "nearest is " + nearest, "known: mlp", "chain-NxD"},
                 [&] { nn::parse_model_name(spec); });
  };
  refuse("resnet81", "resnet18");
  refuse("resnet-9", "resnet9[-WIDTH]");
  refuse("resnet9-", "resnet9[-WIDTH]");
  refuse("gpt6x384", "gpt-LxD");
  refuse("gpt-6", "gpt-LxD");
  refuse("gpt-0x64", "gpt-LxD");
  refuse("gpt-2x64x3", "gpt-LxD");
  refuse("gpt2-124", "gpt2-124m");
  refuse("gpt2-770m", "gpt2-774m");
  refuse("chain-3", "chain-NxD");
  refuse("chain-99999999999999999999x4", "chain-NxD");
}

TEST(ModelName, MoreLayersThanArePlanned_AreRefused) {
  expect_name("chain-10000x64", Family::Chain, 10000, 64);
  expect_error(ErrorCode::InvalidArgument, {"'chain-10001x64'", "10001", "10000"},
               [] { nn::parse_model_name("chain-10001x64"); });
}

TEST(ModelName, NamesLikeNone_ListAll) {
  for (const std::string spec : {"", "transformer"}) {
    try {
      nn::parse_model_name(spec);
      ADD_FAILURE() << spec << " was taken";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("'" + spec + "'; known: mlp"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace shoal::test
