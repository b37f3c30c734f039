#include "shoal/tests/lint/mirror_rules.h"

#include <gtest/gtest.h>

#include <array>

#include "shoal/tests/lint/samples.h"

namespace shoal::lint {
namespace {

std::vector<SourceFile> tree(std::initializer_list<const char*> paths) {
  std::vector<SourceFile> files;
  for (const char* path : paths) files.emplace_back(path, "");
  return files;
}

TEST(MirroredTests, AHeaderWithASourceButNoTest_IsRejected) {
  expect_one(check_mirrored_tests(tree({"nn/linear.h", "nn/linear.cpp"}), {}), 0, "has no tests/nn/linear_test.cpp");
  expect_one(check_mirrored_tests(tree({"runtime/fsdp/units.h", "runtime/fsdp/units.cpp", "tests/units_test.cpp"}), {}),
             0, "tests/runtime/fsdp/units_test.cpp");
}

TEST(MirroredTests, TestedHeadersAndThoseWithoutCode_Pass) {
  EXPECT_TRUE(check_mirrored_tests(tree({"nn/a.h", "nn/a.cpp", "tests/nn/a_test.cpp"}), {}).empty());
  EXPECT_TRUE(check_mirrored_tests(tree({"nn/a.h"}), {}).empty());
  EXPECT_TRUE(check_mirrored_tests(tree({"kernels/host/a.h", "kernels/host/a.cpp"}), {}).empty());
}

TEST(MirroredTests, AnEntryInTheList_HasToBeNeeded) {
  constexpr std::array<TestedElsewhere, 1> kList = {{{"nn/a", "because"}}};
  EXPECT_TRUE(check_mirrored_tests(tree({"nn/a.h", "nn/a.cpp"}), kList).empty());
  expect_one(check_mirrored_tests(tree({"nn/a.h", "nn/a.cpp", "tests/nn/a_test.cpp"}), kList), 0, "not needed");
}

}  // namespace
}  // namespace shoal::lint
