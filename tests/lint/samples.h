#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "shoal/tests/lint/source_file.h"

namespace shoal::lint {

/// What a rule says about one file.
template <typename Rule>
Violations check_one(const Rule& rule, const std::string& path, const std::string& text) {
  const std::vector<SourceFile> files = {SourceFile(path, text)};
  return rule(std::span<const SourceFile>(files));
}

/// Expects exactly one violation, on `line`, whose message holds `text`.
inline void expect_one(const Violations& found, std::size_t line, const std::string& text) {
  ASSERT_EQ(found.size(), 1U) << ::testing::PrintToString(found.size() < 2 ? "" : found[1].to_string());
  EXPECT_EQ(found[0].line, line) << found[0].to_string();
  EXPECT_NE(found[0].message.find(text), std::string::npos) << found[0].to_string();
}

}  // namespace shoal::lint
