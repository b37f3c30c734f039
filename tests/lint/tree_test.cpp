#include <gtest/gtest.h>

#include <algorithm>

#include "shoal/tests/lint/code_rules.h"
#include "shoal/tests/lint/include_rules.h"
#include "shoal/tests/lint/mirror_rules.h"
#include "shoal/tests/lint/source_file.h"
#include "shoal/tests/lint/text_rules.h"

namespace shoal::lint {
namespace {

const std::vector<SourceFile>& project() {
  static const std::vector<SourceFile> files = load_tree(SOURCE_DIR);
  return files;
}

void expect_none(const Violations& found) {
  for (const Violation& violation : found) ADD_FAILURE() << violation.to_string();
}

TEST(Tree, IsTheProject) {
  const auto has = [](const char* path) {
    return std::any_of(project().begin(), project().end(), [&](const SourceFile& file) { return file.path == path; });
  };
  for (const char* path :
       {"CMakeLists.txt", "README.md", "shoal", ".ci/run", ".gitignore", "tests/runtime/fsdp/curves/make_curves.py",
        "runtime/base/error.h", "nn/module.h", "tests/lint/tree_test.cpp"}) {
    EXPECT_TRUE(has(path)) << path;
  }
}

TEST(Tree, IncludesPointUpTheLayers) { expect_none(check_layers(project())); }
TEST(Tree, BackendsAreIncludedByTheirDispatchFileOnly) { expect_none(check_backends(project())); }
TEST(Tree, VendorHeadersAreInTheirPlace) { expect_none(check_vendor_headers(project())); }
TEST(Tree, SourcesIncludeTheirOwnHeaderFirst) { expect_none(check_own_header_first(project())); }
TEST(Tree, FilesAndLinesAreShort) { expect_none(check_sizes(project())); }
TEST(Tree, FileNamesSaySomething) { expect_none(check_file_names(project())); }
TEST(Tree, WordsAreAboutTheProductOnly) { expect_none(check_words(project())); }
TEST(Tree, HeadersAreIncludedOnceAndOpenNoNamespace) { expect_none(check_headers(project())); }
TEST(Tree, TheLibraryIsAGuest) { expect_none(check_calls(project())); }
TEST(Tree, NothingIsCompiledConditionally) { expect_none(check_preprocessor(project())); }
TEST(Tree, TolerancesHaveNames) { expect_none(check_tolerances(project())); }
TEST(Tree, TestsMirrorTheSources) { expect_none(check_mirrored_tests(project(), tested_elsewhere())); }

}  // namespace
}  // namespace shoal::lint
