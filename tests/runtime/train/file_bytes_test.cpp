#include "shoal/runtime/train/file_bytes.h"

#include "shoal/tests/runtime/train/expect_error.h"
#include "shoal/tests/runtime/train/temp_folder.h"

namespace shoal::train {
namespace {

using test::expect_error;
using test::TempFolder;

TEST(ReadFileBytes, RegularFile_IsReadWhole) {
  const TempFolder folder;
  const std::vector<std::uint8_t> bytes = {0, 255, 10, 13, 0};
  EXPECT_EQ(read_file_bytes(folder.write("file", bytes), 5, ""), bytes);
  EXPECT_TRUE(read_file_bytes(folder.write_text("empty", std::string()), 5, "").empty());
}

TEST(ReadFileBytes, Missing_NamesFileAndAdvice) {
  expect_error(ErrorCode::InvalidArgument, {"/nonexistent/file", "try that"},
               [] { read_file_bytes("/nonexistent/file", 5, "try that"); });
}

TEST(ReadFileBytes, NoRegularFile_IsRefused) {
  const TempFolder folder;
  expect_error(ErrorCode::InvalidArgument, {folder.path(), "not a regular file"},
               [&] { read_file_bytes(folder.path(), 5, ""); });
  expect_error(ErrorCode::InvalidArgument, {"/dev/zero"}, [] { read_file_bytes("/dev/zero", 5, ""); });
}

TEST(ReadFileBytes, TooLarge_IsRefusedWithBothSizes) {
  const TempFolder folder;
  const std::string path = folder.write_text("file", std::string("123456"));
  expect_error(ErrorCode::InvalidArgument, {path, "6 bytes", "at most 5"}, [&] { read_file_bytes(path, 5, ""); });
}

}  // namespace
}  // namespace shoal::train
