#include "shoal/runtime/train/idx_file.h"

#include <sys/stat.h>

#include "shoal/runtime/train/file_bytes.h"
#include "shoal/tests/runtime/train/expect_error.h"
#include "shoal/tests/runtime/train/idx_bytes.h"
#include "shoal/tests/runtime/train/temp_folder.h"

namespace shoal::train {
namespace {

using test::expect_error;
using test::make_idx;
using test::TempFolder;

constexpr std::int64_t kMaxBytes = 1000;
const std::string kAdvice = "give another file";

std::vector<std::uint8_t> count_up(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + 3);
  return bytes;
}

IdxFile read(const std::string& path, int num_dims = 3) { return read_idx_file(path, num_dims, kMaxBytes, kAdvice); }

TEST(ReadIdxFile, PlainAndGzipped_GiveExtentsAndElements) {
  const TempFolder folder;
  const auto bytes = make_idx({2, 3, 4}, count_up(24));
  const std::string plain = folder.write("plain", bytes);
  test::write_gzip(folder.file("zipped.gz"), bytes);
  for (const std::string& path : {plain, folder.file("zipped.gz")}) {
    const IdxFile idx = read(path);
    EXPECT_EQ(idx.dims, (std::vector<std::int64_t>{2, 3, 4}));
    EXPECT_EQ(idx.data, count_up(24));
  }
}

TEST(ReadIdxFile, NoElements_IsLegal) {
  const TempFolder folder;
  const IdxFile idx = read(folder.write("empty", make_idx({0, 3, 4}, {})));
  EXPECT_EQ(idx.dims[0], 0);
  EXPECT_TRUE(idx.data.empty());
}

TEST(ReadIdxFile, Missing_NamesFileAndAdvice) {
  const TempFolder folder;
  expect_error(ErrorCode::InvalidArgument, {folder.file("none"), kAdvice}, [&] { read(folder.file("none")); });
}

TEST(ReadIdxFile, TruncatedAnywhere_IsCorrupt) {
  const TempFolder folder;
  const auto bytes = make_idx({2, 3, 4}, count_up(24));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::string path = folder.write("cut", {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)});
    expect_error(ErrorCode::Corrupt, {path}, [&] { read(path); });
  }
}

TEST(ReadIdxFile, GzipTruncatedAnywhere_IsCorrupt) {
  const TempFolder folder;
  test::write_gzip(folder.file("whole.gz"), make_idx({2, 3, 4}, count_up(24)));
  const auto bytes = read_file_bytes(folder.file("whole.gz"), kMaxBytes, kAdvice);
  // Less than the two magic bytes is no gzip file, and is read as a plain one, which is then too short.
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::string path =
        folder.write("cut.gz", {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)});
    expect_error(ErrorCode::Corrupt, {path}, [&] { read(path); });
  }
}

TEST(ReadIdxFile, GzipWithFlippedBit_IsCorrupt) {
  const TempFolder folder;
  test::write_gzip(folder.file("whole.gz"), make_idx({2, 3, 4}, count_up(24)));
  auto bytes = read_file_bytes(folder.file("whole.gz"), kMaxBytes, kAdvice);
  bytes[bytes.size() - 6] ^= 1;  // in the checksum: everything before it can be read
  const std::string path = folder.write("flipped.gz", bytes);
  expect_error(ErrorCode::Corrupt, {path, "damaged"}, [&] { read(path); });
}

TEST(ReadIdxFile, WrongMagic_SaysWhatWasFound) {
  const TempFolder folder;
  auto bytes = make_idx({2, 3, 4}, count_up(24));
  bytes[2] = 13;  // floats
  const std::string path = folder.write("floats", bytes);
  expect_error(ErrorCode::Corrupt, {path, "0x00000d03", "0x00000803"}, [&] { read(path); });
}

TEST(ReadIdxFile, OtherNumberOfDimensions_IsCorrupt) {
  const TempFolder folder;
  const std::string path = folder.write("labels", make_idx({24}, count_up(24)));
  expect_error(ErrorCode::Corrupt, {path, "3 dimensions"}, [&] { read(path); });
}

TEST(ReadIdxFile, HugeExtents_DriveNoAllocation) {
  const TempFolder folder;
  const std::uint32_t huge = 0xffffffff;
  const std::string path = folder.write("huge", make_idx({huge, huge, huge}, count_up(24)));
  expect_error(ErrorCode::Corrupt, {path, "4294967295 x 4294967295 x 4294967295"}, [&] { read(path); });
  const std::string large = folder.write("large", make_idx({2, 3, 1000}, count_up(24)));
  expect_error(ErrorCode::Corrupt, {large, "at most 1000"}, [&] { read(large); });
}

TEST(ReadIdxFile, BytesAfterTheLastElement_AreCorrupt) {
  const TempFolder folder;
  auto bytes = make_idx({2, 3, 4}, count_up(24));
  bytes.push_back(0);
  const std::string path = folder.write("long", bytes);
  expect_error(ErrorCode::Corrupt, {path, "goes on after its 24 elements"}, [&] { read(path); });
}

// Opening a pipe that nobody writes to never returns.
TEST(ReadIdxFile, WhatIsNoRegularFile_IsNotOpened) {
  const TempFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  for (const std::string& path : {folder.file("pipe"), folder.path()}) {
    expect_error(ErrorCode::InvalidArgument, {path, "not a regular file", "advice"},
                 [&] { read_idx_file(path, 1, 100, "advice"); });
  }
}

}  // namespace
}  // namespace shoal::train
