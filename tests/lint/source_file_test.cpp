#include "shoal/tests/lint/source_file.h"

#include <gtest/gtest.h>

namespace shoal::lint {
namespace {

std::vector<std::string> code_of(const std::string& text) { return SourceFile("nn/a.cpp", text).code; }

TEST(SourceFile, CommentsAndLiterals_AreBlankedLineByLine) {
  EXPECT_EQ(code_of("int a;  // abort()\nint b;"), (std::vector<std::string>{"int a;  ", "int b;"}));
  EXPECT_EQ(code_of("a /* x\ny */ b\nc"), (std::vector<std::string>{"a ", " b", "c"}));
  EXPECT_EQ(code_of(R"(f("exit(1) \" // no", 'x', '\'', 1'000);)"),
            (std::vector<std::string>{"f(\"\", '', '', 1'000);"}));
  EXPECT_EQ(code_of("auto s = R\"x(abort()\n)\" \")x\";\nint c;"),
            (std::vector<std::string>{"auto s = \"\"", ";", "int c;"}));
}

TEST(SourceFile, AnUnfinishedLiteral_EndsWithItsLine) {
  EXPECT_EQ(code_of("a \"b\nc"), (std::vector<std::string>{"a \"\"", "c"}));
}

TEST(SourceFile, Paths_AreTakenApart) {
  const SourceFile file("kernels/host/add.h", "");
  EXPECT_EQ(file.folder(), "kernels/host");
  EXPECT_EQ(file.stem(), "add");
  EXPECT_EQ(file.path_without_extension(), "kernels/host/add");
  EXPECT_TRUE(file.is_header() && file.is_cpp());
  EXPECT_FALSE(SourceFile("README.md", "text").is_cpp());
}

TEST(LiesIn, ComparesWholeNames) {
  EXPECT_TRUE(lies_in("nn/a.h", "nn"));
  EXPECT_TRUE(lies_in("nn", "nn"));
  EXPECT_FALSE(lies_in("nnx/a.h", "nn"));
}

TEST(FindWord, FindsWholeWordsOnly) {
  EXPECT_EQ(find_word("abort_all abort", "abort"), 10U);
  EXPECT_EQ(find_word("reabort", "abort"), std::string_view::npos);
}

}  // namespace
}  // namespace shoal::lint
