#include "shoal/runtime/train/data_registry.h"

#include "shoal/tests/runtime/train/expect_error.h"
#include "shoal/tests/runtime/train/temp_folder.h"

namespace shoal::train {
namespace {

using test::expect_error;

TEST(ParseDataName, KindAndArgument) {
  EXPECT_EQ(parse_data_name("text").kind, "text");
  EXPECT_EQ(parse_data_name("text").argument, "");
  EXPECT_EQ(parse_data_name("text:a:b").argument, "a:b");
}

TEST(ParseDataName, Nonsense_SaysWhatWouldWork) {
  expect_error(ErrorCode::InvalidArgument, {"fashion-mnits", "did you mean 'fashion-mnist'"},
               [] { parse_data_name("fashion-mnits"); });
  expect_error(ErrorCode::InvalidArgument, {"cifar10:DIR"}, [] { parse_data_name("cifar10"); });
  expect_error(ErrorCode::InvalidArgument, {"text:", "nothing is named"}, [] { parse_data_name("text:"); });
  expect_error(ErrorCode::InvalidArgument, {"synthetic"}, [] { parse_data_name("synthetic:5"); });
  expect_error(ErrorCode::InvalidArgument, {"''"}, [] { parse_data_name(""); });
}

TEST(CheckDataFitsModel, Mismatch_NamesDataThatWorks) {
  EXPECT_NO_THROW(check_data_fits_model("fashion-mnist", "mlp"));
  EXPECT_NO_THROW(check_data_fits_model("text", "gpt-1x64"));
  expect_error(ErrorCode::InvalidArgument, {"takes images", "fashion-mnist"},
               [] { check_data_fits_model("text", "resnet9"); });
  expect_error(ErrorCode::InvalidArgument, {"takes text", "text:FILE"},
               [] { check_data_fits_model("cifar10:x", "gpt-1x64"); });
  expect_error(ErrorCode::InvalidArgument, {"takes vectors", "synthetic"},
               [] { check_data_fits_model("text", "chain-2x64"); });
}

TEST(ExpectedSample, IsWhatTheModelCanBeMadeFor) {
  for (const char* model : {"mlp", "resnet9-4", "resnet18", "gpt-1x64", "chain-2x64"}) {
    const SampleSpec sample = expected_sample("synthetic", model);
    EXPECT_NO_THROW(nn::make_model(model, model_inputs_for(sample))) << model;
  }
  EXPECT_EQ(expected_sample("cifar10:x", "resnet18").inputs, (Shape{32, 32, 3}));
  EXPECT_EQ(expected_sample("text", "gpt-1x64").num_classes, 256);
  EXPECT_EQ(model_inputs_for(expected_sample("cifar10:x", "mlp")).channels, 3);
}

TEST(LoadData, LoadsTheFormThatWasExpected) {
  const test::TempFolder folder;
  const std::string path = folder.write_text("text", std::string(10000, 'x'));
  for (const std::string& name : {std::string("synthetic"), "text:" + path}) {
    const auto data = load_data(name, "gpt-1x64", 3);
    EXPECT_EQ(data->sample().inputs, expected_sample(name, "gpt-1x64").inputs);
    EXPECT_EQ(data->sample().num_classes, 256);
  }
}

}  // namespace
}  // namespace shoal::train
