#include "shoal/runtime/tools/config_flags.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "shoal/tests/runtime/train/expect_error.h"

namespace shoal::tools {
namespace {

using test::expect_error;

train::TrainConfig set(const std::string& name, const std::string& text) {
  train::TrainConfig config;
  set_config_flag(config, name, text, "--");
  return config;
}

TEST(ConfigFlags, EachKindOfValue) {
  EXPECT_EQ(*set("batch", "64").batch, 64);
  EXPECT_EQ(set("ranks", "3").ranks, 3);
  EXPECT_EQ(*set("lr", "1e-3").lr, 1e-3);
  EXPECT_EQ(set("model", "mlp").model, "mlp");
  EXPECT_EQ(set("seed", "18446744073709551615").seed, 18446744073709551615u);
  EXPECT_EQ(*set("memory-limit", "2MiB").memory_limit, 2 << 20);
}

TEST(ConfigFlags, TextThatIsNoSuchValue_NamesTheFlag) {
  const auto refused = [](const std::string& name, const std::string& text) {
    expect_error(ErrorCode::InvalidArgument, {"--" + name, "'" + text + "'"}, [&] { set(name, text); });
  };
  refused("batch", "many");
  refused("batch", "8.5");
  refused("batch", "8 ");
  refused("batch", "");
  refused("batch", "99999999999999999999");
  refused("ranks", "3000000000");
  refused("lr", "fast");
  refused("seed", "-1");
  refused("model", "");
}

TEST(ConfigFlags, UnknownName_GetsTheNearest) {
  expect_error(ErrorCode::InvalidArgument, {"--'bacth'", "'batch'"}, [] { set("bacth", "8"); });
}

TEST(ConfigFlags, WhatIsSet_IsReadBack) {
  for (const ConfigFlag& flag : config_flags()) {
    train::TrainConfig config;
    flag.set(config, flag.name, "7");
    const FlagValue value = flag.get(config);
    const bool is_seven = value == FlagValue{std::int64_t{7}} || value == FlagValue{std::uint64_t{7}} ||
                          value == FlagValue{7.0} || value == FlagValue{std::string("7")};
    EXPECT_TRUE(is_seven) << flag.name;
  }
  const train::TrainConfig largest = set("seed", "18446744073709551615");
  for (const ConfigFlag& flag : config_flags()) {
    if (flag.name == "seed") {
      EXPECT_EQ(flag.get(largest), FlagValue{std::numeric_limits<std::uint64_t>::max()});
    }
  }
}

TEST(ConfigFlags, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const ConfigFlag& flag : config_flags()) EXPECT_TRUE(names.insert(flag.name).second) << flag.name;
}

TEST(ParseBytes, Units) {
  EXPECT_EQ(parse_bytes("x", "0"), 0);
  EXPECT_EQ(parse_bytes("x", "1048577"), 1048577);
  EXPECT_EQ(parse_bytes("x", "3KiB"), 3072);
  EXPECT_EQ(parse_bytes("x", "2GiB"), std::int64_t{2} << 30);
}

TEST(ParseBytes, Nonsense_SaysWhatWouldWork) {
  for (const char* text : {"", "MiB", "1mb", "-1", "1.5GiB", "99999999999GiB"}) {
    expect_error(ErrorCode::InvalidArgument, {"--x '", "512MiB"}, [&] { parse_bytes("--x", text); });
  }
}

}  // namespace
}  // namespace shoal::tools
