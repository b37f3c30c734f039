#include "shoal/runtime/tools/config_file.h"

#include <gtest/gtest.h>

#include "shoal/tests/runtime/train/expect_error.h"
#include "shoal/tests/runtime/train/temp_folder.h"

namespace shoal::tools {
namespace {

using test::expect_error;
using test::TempFolder;

train::TrainConfig read(const TempFolder& folder, const std::string& text) {
  train::TrainConfig config;
  read_config_file(folder.write_text("config.json", text), config);
  return config;
}

TEST(ReadConfigFile, FlagsByName) {
  const TempFolder folder;
  const train::TrainConfig config =
      read(folder, R"({"model": "gpt-4x256", "ranks": 3, "lr": 0.001, "clip-norm": 1, "memory-limit": "1MiB"})");
  EXPECT_EQ(config.model, "gpt-4x256");
  EXPECT_EQ(config.ranks, 3);
  EXPECT_EQ(*config.lr, 0.001);
  EXPECT_EQ(*config.clip_norm, 1);
  EXPECT_EQ(*config.memory_limit, 1 << 20);
  EXPECT_FALSE(config.batch);
}

TEST(ReadConfigFile, UnknownKey_GetsTheNearestAndTheFile) {
  const TempFolder folder;
  expect_error(ErrorCode::InvalidArgument, {"config.json", "'bacth'", "'batch'"},
               [&] { read(folder, R"({"bacth": 8})"); });
}

TEST(ReadConfigFile, WrongKindOfValue_NamesTheKey) {
  const TempFolder folder;
  for (const char* value : {"true", "null", "[1]", "{}"}) {
    expect_error(ErrorCode::InvalidArgument, {"'batch'"},
                 [&] { read(folder, std::string("{\"batch\": ") + value + "}"); });
  }
  expect_error(ErrorCode::InvalidArgument, {"config.json': key batch '8.5'"},
               [&] { read(folder, R"({"batch": 8.5})"); });
}

TEST(ReadConfigFile, NoObject_IsRefused) {
  const TempFolder folder;
  expect_error(ErrorCode::InvalidArgument, {"config.json"}, [&] { read(folder, "[1, 2]"); });
  for (const char* broken : {"", "{", "{\"batch\": }", "batch = 8", "{} x"}) {
    expect_error(ErrorCode::InvalidArgument, {"config.json", "no JSON"}, [&] { read(folder, broken); });
  }
}

TEST(ReadConfigFile, Missing_NamesTheFile) {
  train::TrainConfig config;
  expect_error(ErrorCode::InvalidArgument, {"/nonexistent.json", "--config"},
               [&] { read_config_file("/nonexistent.json", config); });
}

}  // namespace
}  // namespace shoal::tools
