#include "shoal/runtime/tools/json_lines.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace shoal::tools {
namespace {

using Json = nlohmann::ordered_json;

TEST(JsonLines, NumbersThatAreNotFinite_AreNull) {
  Json json = Json::parse(step_line({.step = 1,
                                           .loss = std::numeric_limits<double>::quiet_NaN(),
                                           .lr = 0.5,
                                           .grad_norm = std::numeric_limits<double>::infinity(),
                                           .ms = 1,
                                           .items_per_s = 2}));
  EXPECT_TRUE(json["loss"].is_null());
  EXPECT_TRUE(json["grad_norm"].is_null());
  EXPECT_EQ(json["lr"], 0.5);
}

TEST(JsonLines, BytesThatAreNoUtf8_DoNotHideAnError) {
  const std::string line = error_line(Error(ErrorCode::Corrupt, "[read_file] '\xff' is bad", 3));
  EXPECT_EQ(line.find('\n'), std::string::npos);
  Json json = Json::parse(line);
  EXPECT_EQ(json["code"], "Corrupt");
  EXPECT_EQ(json["rank"], 3);
  EXPECT_EQ(json["operation"], "read_file");
  EXPECT_NE(json["message"].get<std::string>().find("is bad"), std::string::npos);
  EXPECT_TRUE(Json::parse(error_line(Error(ErrorCode::Corrupt, "no rank")))["rank"].is_null());
}

TEST(JsonLines, LargestSeed_StaysAsItIs) {
  train::TrainConfig open;
  open.seed = std::numeric_limits<std::uint64_t>::max();
  const train::TrainConfig config = train::resolve_config(open);
  Json json = Json::parse(start_line({config, "images", 1, 1, 1, 1}, {}));
  EXPECT_EQ(json["config"]["seed"].dump(), "18446744073709551615");
}

TEST(JsonLines, RunWithoutAStep_HasNoLoss) {
  train::TrainSummary summary;
  summary.is_stopped = true;
  summary.weights_hash = 0xabc;
  Json json = Json::parse(done_line(summary));
  EXPECT_TRUE(json["loss"].is_null());
  EXPECT_EQ(json["stopped"], true);
  EXPECT_EQ(json["weights_hash"], "0000000000000abc");
}

}  // namespace
}  // namespace shoal::tools
