#include "shoal/runtime/train/fashion_mnist.h"

#include <filesystem>

#include "shoal/tests/runtime/train/expect_error.h"
#include "shoal/tests/runtime/train/idx_bytes.h"
#include "shoal/tests/runtime/train/temp_folder.h"

namespace shoal::train {
namespace {

using test::expect_error;
using test::make_idx;
using test::TempFolder;

constexpr std::uint32_t kImageBytes = 28 * 28;

std::vector<std::uint8_t> images(std::uint32_t count) {
  std::vector<std::uint8_t> pixels(count * kImageBytes);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i % 251);
  return make_idx({count, 28, 28}, pixels);
}

// Three training and two test images.
void write_all(const TempFolder& folder) {
  test::write_gzip(folder.file("train-images-idx3-ubyte.gz"), images(3));
  test::write_gzip(folder.file("train-labels-idx1-ubyte.gz"), make_idx({3}, {0, 9, 5}));
  test::write_gzip(folder.file("t10k-images-idx3-ubyte.gz"), images(2));
  test::write_gzip(folder.file("t10k-labels-idx1-ubyte.gz"), make_idx({2}, {1, 2}));
}

TEST(LoadFashionMnist, FourFiles_GiveImagesAndLabels) {
  const TempFolder folder;
  write_all(folder);
  const auto data = load_fashion_mnist(folder.path());
  EXPECT_EQ(data->size(Split::Train), 3);
  EXPECT_EQ(data->size(Split::Test), 2);
  EXPECT_EQ(data->sample().inputs, (Shape{28, 28, 1}));
  EXPECT_EQ(data->item_name(), "images");
  std::vector<float> inputs(kImageBytes);
  std::int32_t target = -1;
  const std::vector<SampleRef> samples = {{1}};
  data->fill_batch(Split::Train, samples, Tensor(inputs.data(), {1, 28, 28, 1}, DType::F32),
                   Tensor(&target, {1}, DType::I32));
  EXPECT_EQ(target, 9);
  const float pixel = static_cast<float>(kImageBytes % 251) / 255.0f;
  EXPECT_EQ(inputs[0], (pixel - 0.2860f) / 0.3530f);
}

TEST(LoadFashionMnist, UnzippedFiles_DoAsWell) {
  const TempFolder folder;
  write_all(folder);
  std::filesystem::remove(folder.file("t10k-labels-idx1-ubyte.gz"));
  folder.write("t10k-labels-idx1-ubyte", make_idx({2}, {1, 2}));
  EXPECT_EQ(load_fashion_mnist(folder.path())->size(Split::Test), 2);
}

TEST(LoadFashionMnist, MissingFile_NamesItAndThePackage) {
  const TempFolder folder;
  write_all(folder);
  std::filesystem::remove(folder.file("train-labels-idx1-ubyte.gz"));
  expect_error(ErrorCode::InvalidArgument, {folder.file("train-labels-idx1-ubyte"), "dataset-fashion-mnist"},
               [&] { load_fashion_mnist(folder.path()); });
}

TEST(LoadFashionMnist, LabelOutOfRange_IsCorrupt) {
  const TempFolder folder;
  write_all(folder);
  test::write_gzip(folder.file("train-labels-idx1-ubyte.gz"), make_idx({3}, {0, 10, 5}));
  expect_error(ErrorCode::Corrupt, {"label 1", "10"}, [&] { load_fashion_mnist(folder.path()); });
}

TEST(LoadFashionMnist, OtherImageSize_IsCorrupt) {
  const TempFolder folder;
  write_all(folder);
  test::write_gzip(folder.file("t10k-images-idx3-ubyte.gz"), make_idx({1, 2, 2}, {0, 0, 0, 0}));
  expect_error(ErrorCode::Corrupt, {"t10k-images", "2 x 2", "28 x 28"}, [&] { load_fashion_mnist(folder.path()); });
}

TEST(LoadFashionMnist, LabelsForOtherImages_AreCorrupt) {
  const TempFolder folder;
  write_all(folder);
  test::write_gzip(folder.file("train-labels-idx1-ubyte.gz"), make_idx({2}, {0, 1}));
  expect_error(ErrorCode::Corrupt, {"holds 3 images", "2 labels"}, [&] { load_fashion_mnist(folder.path()); });
}

TEST(FashionMnist, NameThatCannotBeLookedAt_IsRefused) {
  expect_error(ErrorCode::InvalidArgument, {"cannot be looked at", "dataset-fashion-mnist"},
               [] { load_fashion_mnist(std::string(5000, 'x')); });
}

}  // namespace
}  // namespace shoal::train
