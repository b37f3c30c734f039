#include "shoal/tests/lint/include_rules.h"

#include <gtest/gtest.h>

#include "shoal/tests/lint/samples.h"

namespace shoal::lint {
namespace {

TEST(Layers, ArrowsThatPointDown_AreRejected) {
  const auto check = [](const std::string& path, const std::string& target) {
    return check_one(check_layers, path, "// first\n#include \"shoal/" + target + "\"\n");
  };
  expect_one(check("runtime/base/a.h", "runtime/device/stream.h"), 2, "runtime/base may not include");
  expect_one(check("runtime/device/a.cpp", "kernels/add.h"), 2, "may not");
  expect_one(check("kernels/a.cpp", "collectives/communicator.h"), 2, "may not");
  expect_one(check("nn/a.cpp", "collectives/communicator.h"), 2, "may not");
  expect_one(check("nn/models/a.cpp", "optim/rule.h"), 2, "may not");
  expect_one(check("optim/a.cpp", "nn/module.h"), 2, "may not");
  expect_one(check("runtime/fsdp/a.cpp", "runtime/train/trainer.h"), 2, "may not");
  expect_one(check("runtime/train/a.cpp", "runtime/tools/program.h"), 2, "may not");
  expect_one(check("kernels/a.cpp", "tests/support/compare.h"), 2, "may not");
}

TEST(Layers, ArrowsThatPointUp_Pass) {
  const std::string all =
      "#include <vector>\n#include \"shoal/runtime/base/error.h\"\n#include \"shoal/kernels/add.h\"\n";
  for (const char* path : {"kernels/a.h", "collectives/a.h", "nn/a.h", "optim/a.h", "runtime/fsdp/a.h", "tests/a.h"}) {
    EXPECT_TRUE(check_one(check_layers, path, all).empty()) << path;
  }
  EXPECT_TRUE(check_one(check_layers, "runtime/tools/a.cpp", "#include \"shoal/runtime/train/a.h\"\n").empty());
  EXPECT_TRUE(check_one(check_layers, "nn/a.cpp", "// #include \"shoal/optim/rule.h\"\n").empty());
}

TEST(Layers, FilesOutsideTheTableAndBareIncludes_AreRejected) {
  expect_one(check_one(check_layers, "runtime/extra/a.h", ""), 0, "no row");
  expect_one(check_one(check_layers, "nn/a.cpp", "#include \"module.h\"\n"), 1, "\"shoal/...\"");
  expect_one(check_one(check_layers, "nn/a.cpp", "#include \"shoal_build/versions.h\"\n"), 1, "\"shoal/...\"");
  EXPECT_TRUE(check_one(check_layers, "runtime/tools/a.cpp", "#include \"shoal_build/versions.h\"\n").empty());
}

TEST(Backends, AreIncludedByNobodyElse) {
  const auto check = [](const std::string& path, const std::string& target) {
    return check_one(check_backends, path, "#include \"shoal/" + target + "\"\n");
  };
  expect_one(check("nn/a.cpp", "kernels/host/add.h"), 1, "only a source file in kernels");
  expect_one(check("kernels/add.h", "kernels/host/add.h"), 1, "only a source file");  // a header would pass it on
  expect_one(check("runtime/device/sim/a.cpp", "runtime/device/host/b.h"), 1, "only a source file");
  expect_one(check("runtime/device/a.cpp", "kernels/host/isa/b.h"), 1, "only a source file");
  EXPECT_TRUE(check("kernels/add.cpp", "kernels/host/add.h").empty());
  EXPECT_TRUE(check("kernels/host/isa/a.cpp", "kernels/host/spread.h").empty());
  EXPECT_TRUE(check("runtime/device/host/sanitizer/none/a.cpp", "runtime/device/host/b.h").empty());
  EXPECT_TRUE(check("tests/kernels/a_test.cpp", "kernels/host/add.h").empty());
}

TEST(Backends, HaveOneDispatchFile) {
  const std::vector<SourceFile> files = {SourceFile("kernels/a.cpp", "#include \"shoal/kernels/host/add.h\"\n"),
                                         SourceFile("kernels/b.cpp", "#include \"shoal/kernels/host/add.h\"\n")};
  expect_one(check_backends(files), 1, "second file");
}

TEST(VendorHeaders, OutsideTheirPlace_AreRejected) {
  const auto check = [](const std::string& path, const std::string& header) {
    return check_one(check_vendor_headers, path, "#include <" + header + ">\n");
  };
  expect_one(check("kernels/linear.cpp", "dnnl.h"), 1, "kernels/host");
  expect_one(check("nn/a.h", "fmt/format.h"), 1, "a header includes fmt");
  expect_one(check("runtime/train/a.cpp", "nlohmann/json.hpp"), 1, "runtime/tools");
  expect_one(check("runtime/train/a.cpp", "CLI/CLI.hpp"), 1, "runtime/tools");
  expect_one(check("nn/a.cpp", "Eigen/Dense"), 1, "tests");
  expect_one(check("runtime/base/a.cpp", "zlib.h"), 1, "runtime/train");
  expect_one(check("runtime/fsdp/a.cpp", "xxhash.h"), 1, "runtime/base");
  expect_one(check("runtime/device/a.cpp", "cuda_runtime.h"), 1, "runtime/device/cuda");
  expect_one(check("optim/a.cpp", "gtest/gtest.h"), 1, "tests");
}

TEST(VendorHeaders, InTheirPlace_Pass) {
  const auto check = [](const std::string& path, const std::string& header) {
    return check_one(check_vendor_headers, path, "#include <" + header + ">\n");
  };
  EXPECT_TRUE(check("kernels/host/linear.cpp", "dnnl.h").empty());
  EXPECT_TRUE(check("nn/a.cpp", "fmt/format.h").empty());
  EXPECT_TRUE(check("tests/support/a.h", "fmt/format.h").empty());
  EXPECT_TRUE(check("tests/kernels/a_test.cpp", "Eigen/Dense").empty());
  EXPECT_TRUE(check("kernels/cuda/a.cpp", "cuda_runtime.h").empty());
}

TEST(OwnHeader, NotFirst_IsRejected) {
  const SourceFile header("nn/a.h", "#pragma once\n");
  const auto check = [&](const std::string& text) {
    const std::vector<SourceFile> files = {SourceFile("nn/a.cpp", text), header};
    return check_own_header_first(files);
  };
  expect_one(check("#include <vector>\n#include \"shoal/nn/a.h\"\n"), 1, "shoal/nn/a.h does not come first");
  expect_one(check(""), 0, "does not come first");
  EXPECT_TRUE(check("// Why.\n#include \"shoal/nn/a.h\"\n#include <vector>\n").empty());
  EXPECT_TRUE(check_one(check_own_header_first, "nn/b.cpp", "#include <vector>\n").empty());
}

}  // namespace
}  // namespace shoal::lint
