#include "shoal/runtime/train/cifar10.h"

#include <filesystem>

#include "shoal/tests/runtime/train/expect_error.h"
#include "shoal/tests/runtime/train/temp_folder.h"

namespace shoal::train {
namespace {

using test::expect_error;
using test::TempFolder;

constexpr std::size_t kPlane = 32 * 32;

// A label, then a red, a green and a blue plane of one value each.
std::vector<std::uint8_t> record(std::uint8_t label, std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
  std::vector<std::uint8_t> bytes = {label};
  bytes.insert(bytes.end(), kPlane, red);
  bytes.insert(bytes.end(), kPlane, green);
  bytes.insert(bytes.end(), kPlane, blue);
  return bytes;
}

void write_all(const TempFolder& folder) {
  for (int file = 1; file <= 5; ++file) {
    folder.write("data_batch_" + std::to_string(file) + ".bin", record(static_cast<std::uint8_t>(file), 0, 0, 0));
  }
  folder.write("test_batch.bin", record(7, 255, 0, 51));
}

TEST(LoadCifar10, SixFiles_GiveInterleavedChannels) {
  const TempFolder folder;
  write_all(folder);
  const auto data = load_cifar10(folder.path());
  EXPECT_EQ(data->size(Split::Train), 5);
  EXPECT_EQ(data->size(Split::Test), 1);
  std::vector<float> inputs(3 * kPlane);
  std::int32_t target = -1;
  const std::vector<SampleRef> samples = {{0}};
  data->fill_batch(Split::Test, samples, Tensor(inputs.data(), {1, 32, 32, 3}, DType::F32),
                   Tensor(&target, {1}, DType::I32));
  EXPECT_EQ(target, 7);
  for (const std::size_t pixel : {std::size_t{0}, kPlane - 1}) {
    EXPECT_EQ(inputs[3 * pixel], (1.0f - 0.4914f) / 0.2470f);
    EXPECT_EQ(inputs[3 * pixel + 1], (0.0f - 0.4822f) / 0.2435f);
    EXPECT_EQ(inputs[3 * pixel + 2], (0.2f - 0.4465f) / 0.2616f);
  }
}

TEST(LoadCifar10, MissingFile_NamesIt) {
  const TempFolder folder;
  write_all(folder);
  std::filesystem::remove(folder.file("data_batch_4.bin"));
  expect_error(ErrorCode::InvalidArgument, {folder.file("data_batch_4.bin"), "cifar10:DIR"},
               [&] { load_cifar10(folder.path()); });
}

TEST(LoadCifar10, Truncated_IsCorrupt) {
  const TempFolder folder;
  const auto whole = record(1, 0, 0, 0);
  for (const std::ptrdiff_t length : {0, 1, 100, 3072}) {
    write_all(folder);
    folder.write("data_batch_2.bin", {whole.begin(), whole.begin() + length});
    expect_error(ErrorCode::Corrupt, {"data_batch_2.bin", std::to_string(length)},
                 [&] { load_cifar10(folder.path()); });
  }
}

TEST(LoadCifar10, LabelOutOfRange_NamesFileAndRecord) {
  const TempFolder folder;
  write_all(folder);
  auto two = record(1, 0, 0, 0);
  const auto bad = record(10, 0, 0, 0);
  two.insert(two.end(), bad.begin(), bad.end());
  folder.write("data_batch_2.bin", two);
  expect_error(ErrorCode::Corrupt, {"data_batch_2.bin", "label 10 in record 1"}, [&] { load_cifar10(folder.path()); });
}

}  // namespace
}  // namespace shoal::train
