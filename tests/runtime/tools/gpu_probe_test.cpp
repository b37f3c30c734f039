#include "shoal/runtime/tools/gpu_probe.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "shoal/tests/runtime/train/temp_folder.h"

namespace shoal::tools {
namespace {

TEST(FindGpus, WithoutADriver_OneAbsentPart) {
  const test::TempFolder folder;
  const auto parts = find_gpus(folder.file("none"));
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_FALSE(parts[0].is_present);
  EXPECT_NE(parts[0].detail.find("none is loaded"), std::string::npos);
}

TEST(FindGpus, DriverAndGpus_ByAddress) {
  const test::TempFolder folder;
  folder.write_text("version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.1\nGCC version:  12\n");
  EXPECT_EQ(find_gpus(folder.path()).size(), 1u);
  for (const char* address : {"0000:02:00.0", "0000:01:00.0"}) {
    std::filesystem::create_directories(folder.file("gpus/") + address);
  }
  folder.write_text("gpus/0000:01:00.0/information", "Model: \t\t NVIDIA H200\nIRQ:   \t\t 16\n");
  const auto parts = find_gpus(folder.path());
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_TRUE(parts[0].is_present);
  EXPECT_EQ(parts[0].detail, "NVIDIA UNIX x86_64 Kernel Module  535.1");
  EXPECT_EQ(parts[1].name, "gpu 0000:01:00.0");
  EXPECT_EQ(parts[1].detail, "NVIDIA H200");
  EXPECT_EQ(parts[2].detail, "of an unknown model");
}

}  // namespace
}  // namespace shoal::tools
