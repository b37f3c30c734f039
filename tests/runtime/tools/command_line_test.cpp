#include "shoal/runtime/tools/command_line.h"

#include <gtest/gtest.h>

#include "shoal/tests/runtime/train/expect_error.h"

namespace shoal::tools {
namespace {

using test::expect_error;

const std::vector<CommandSpec> kCommands = {
    {"train", "trains", {{"batch", "N", "samples"}, {"model", "NAME", "which"}, {"json", "", "lines"}}},
    {"bench step", "a step", {{"workload", "NAME", "which"}}},
    {"bench kernels", "ops", {}},
};

CommandLine parse(const std::vector<std::string>& arguments) { return parse_command_line(kCommands, arguments); }

void expect_refused(const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
  expect_error(ErrorCode::InvalidArgument, parts, [&] { parse(arguments); });
}

TEST(ParseCommandLine, ValuesAndSwitches) {
  const CommandLine line = parse({"train", "--batch", "8", "--model=mlp", "--json"});
  EXPECT_EQ(line.command, "train");
  EXPECT_EQ(line.values.at("batch"), "8");
  EXPECT_EQ(line.values.at("model"), "mlp");
  EXPECT_TRUE(line.has("json"));
  EXPECT_FALSE(parse({"train"}).has("batch"));
  EXPECT_FALSE(parse({"train"}).has("json"));
}

TEST(ParseCommandLine, NegativeNumbersAreValues) {
  EXPECT_EQ(parse({"train", "--batch", "-5"}).values.at("batch"), "-5");
}

TEST(ParseCommandLine, CommandOfTwoWords) {
  const CommandLine line = parse({"bench", "step", "--workload", "x"});
  EXPECT_EQ(line.command, "bench step");
  EXPECT_EQ(line.values.at("workload"), "x");
  EXPECT_EQ(parse({"bench", "kernels"}).command, "bench kernels");
}

TEST(ParseCommandLine, UnknownFlag_GetsTheNearest) {
  expect_refused({"train", "--bacth", "8"}, {"'bacth'", "'batch'"});
  expect_refused({"train", "--bacth=8"}, {"'bacth'", "'batch'"});
  expect_refused({"train", "--jsn"}, {"train: flag 'jsn' is unknown", "'json'"});
  expect_refused({"bench", "step", "--worklaod", "x"}, {"'worklaod'", "'workload'"});
}

TEST(ParseCommandLine, UnknownCommand_GetsTheNearest) {
  expect_refused({"trian"}, {"'trian'", "'train'"});
  expect_refused({"bench", "stpe"}, {"shoal bench", "'stpe'", "'step'"});
}

TEST(ParseCommandLine, NothingToDo_ListsWhatThereIs) {
  expect_refused({}, {"train", "bench"});
  expect_refused({"bench"}, {"shoal bench", "step", "kernels"});
}

TEST(ParseCommandLine, StrayWordsAndMissingOrRepeatedValues_AreRefused) {
  expect_refused({"train", "fast"}, {"'fast'"});
  expect_refused({"train", "--batch"}, {"batch"});
  expect_refused({"train", "--batch", "1", "--batch", "2"}, {"batch"});
}

TEST(ParseCommandLine, WhatStandsBeforeTheCommand_IsRefused) {
  expect_refused({"--batch", "8", "train"}, {"'shoal'", "'--batch'", "after"});
  expect_refused({"--batch=8", "train"}, {"'--batch=8'"});
  expect_refused({"junk", "train"}, {"'junk'", "train, bench"});
  expect_refused({"launch", "-n", "2", "--", "train"}, {"'launch'", "train, bench"});
  expect_refused({"bench", "junk", "step"}, {"shoal bench", "'junk'", "step, kernels"});
  expect_refused({"bench", "--workload", "x", "step"}, {"'shoal bench'", "'--workload'"});
  expect_refused({"--", "train"}, {"'--'"});
}

TEST(ParseCommandLine, SecondCommand_IsRefused) {
  expect_refused({"train", "bench"}, {"'train'", "'bench'"});
  expect_refused({"train", "train"}, {"'train'"});
  expect_refused({"bench", "step", "kernels"}, {"'bench step'", "'kernels'"});
  expect_refused({"bench", "step", "train"}, {"'bench step'", "'train'"});
  expect_refused({"train", "--json", "--", "bench", "step"}, {"'bench'"});
  expect_refused({"train", "--", "fast"}, {"'fast'"});
}

TEST(ParseCommandLine, Help_IsText) {
  EXPECT_NE(parse({"--help"}).help.find("train"), std::string::npos);
  EXPECT_NE(parse({"train", "--help"}).help.find("--batch"), std::string::npos);
  EXPECT_NE(parse({"bench", "step", "--help"}).help.find("--workload"), std::string::npos);
}

}  // namespace
}  // namespace shoal::tools
