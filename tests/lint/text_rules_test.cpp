#include "shoal/tests/lint/text_rules.h"

#include <gtest/gtest.h>

#include "shoal/tests/lint/samples.h"

namespace shoal::lint {
namespace {

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

TEST(Sizes, LongFiles_AreRejected) {
  EXPECT_TRUE(check_one(check_sizes, "nn/a.cpp", repeated("x\n", kMaxFileLines)).empty());
  expect_one(check_one(check_sizes, "nn/a.cpp", repeated("x\n", kMaxFileLines + 1)), 0, "401 lines");
}

TEST(Sizes, LongLines_AreRejectedByColumnsNotBytes) {
  EXPECT_TRUE(check_one(check_sizes, "nn/a.cpp", repeated("x", kMaxColumns) + "\n").empty());
  EXPECT_TRUE(check_one(check_sizes, "nn/a.cpp", repeated("\xc3\xa4", kMaxColumns) + "\n").empty());
  expect_one(check_one(check_sizes, "nn/a.cpp", "\n" + repeated("x", kMaxColumns + 1)), 2, "121 columns");
  expect_one(check_one(check_sizes, "shoal", repeated("x", kMaxColumns + 1)), 1, "121 columns");
  EXPECT_TRUE(check_one(check_sizes, "README.md", repeated("x", kMaxColumns + 1)).empty());
}

TEST(FileNames, ThatSayNothing_AreRejected) {
  EXPECT_TRUE(check_one(check_file_names, "nn/linear_layer.cpp", "").empty());
  expect_one(check_one(check_file_names, "nn/LinearLayer.cpp", ""), 0, "snake_case");
  expect_one(check_one(check_file_names, "nn/string_utils.h", ""), 0, "'utils'");
  expect_one(check_one(check_file_names, "nn/misc/a.h", ""), 0, "'misc'");
  expect_one(check_one(check_file_names, "nn/common.h", ""), 0, "'common'");
}

TEST(Words, OfUnfinishedWork_AreRejectedEverywhere) {
  const std::string unfinished = std::string("// TO") + "DO: later\n";
  expect_one(check_one(check_words, "nn/a.cpp", "\n" + unfinished), 2, "says");
  expect_one(check_one(check_words, "tests/run_all.sh", std::string("# FIX") + "ME\n"), 1, "says");
  EXPECT_TRUE(check_one(check_words, "nn/a.cpp", "// todos los\n").empty());
}

TEST(Words, AboutTheMaking_AreRejected) {
  expect_one(check_one(check_words, "README.md", std::string("see iss") + "ue #12"), 1, "tracker");
  expect_one(check_one(check_words, "README.md", std::string("in /wo") + "rk/main"), 1, "path of one machine");
  expect_one(check_one(check_words, "README.md", std::string("by an ag") + "ent"), 1, "says");
}

TEST(Headers, WithoutPragmaOnce_AreRejected) {
  EXPECT_TRUE(check_one(check_headers, "nn/a.h", "// Why.\n\n#pragma once\n").empty());
  expect_one(check_one(check_headers, "nn/a.h", "#include <vector>\n#pragma once\n"), 0, "#pragma once");
  expect_one(check_one(check_headers, "nn/a.h", ""), 0, "#pragma once");
  EXPECT_TRUE(check_one(check_headers, "nn/a.cpp", "").empty());
}

TEST(Headers, ThatOpenNamespaces_AreRejected) {
  expect_one(check_one(check_headers, "nn/a.h", "#pragma once\nusing namespace std;\n"), 2, "using namespace");
}

}  // namespace
}  // namespace shoal::lint
