#include "shoal/runtime/train/labelled_images.h"

#include "shoal/tests/runtime/train/expect_error.h"

namespace shoal::train {
namespace {

using test::expect_error;

const ImageFormat kFormat{{2, 1, 2}, 3, {0.5f, 0.0f}, {0.5f, 1.0f}};

// One image of two pixels with two channels per label.
ImageSplit split_of(const std::vector<std::uint8_t>& labels) {
  ImageSplit split;
  split.labels = labels;
  for (std::size_t i = 0; i < labels.size(); ++i) split.pixels.insert(split.pixels.end(), {0, 255, 255, 0});
  return split;
}

TEST(LabelledImages, PixelsAreNormalisedByChannel) {
  const LabelledImages images("tiny", kFormat, split_of({2, 0}), split_of({1}));
  std::vector<float> inputs(8);
  std::vector<std::int32_t> targets(2);
  const std::vector<SampleRef> samples = {{0}, {1}};
  images.fill_batch(Split::Train, samples, Tensor(inputs.data(), {2, 2, 1, 2}, DType::F32),
                    Tensor(targets.data(), {2}, DType::I32));
  EXPECT_EQ(inputs, (std::vector<float>{-1, 1, 1, 0, -1, 1, 1, 0}));
  EXPECT_EQ(targets, (std::vector<std::int32_t>{2, 0}));
  EXPECT_EQ(images.size(Split::Train), 2);
  EXPECT_EQ(images.size(Split::Test), 1);
  EXPECT_EQ(images.sample().num_classes, 3);
}

TEST(LabelledImages, LabelOutOfRange_IsCorruptByNumber) {
  expect_error(ErrorCode::Corrupt, {"label 1 of the train split of tiny is 3", "0 to 2"}, [] {
    LabelledImages("tiny", kFormat, split_of({2, 3}), split_of({1}));
  });
  expect_error(ErrorCode::Corrupt, {"test split"},
               [] { LabelledImages("tiny", kFormat, split_of({2}), split_of({255})); });
}

TEST(LabelledImages, EmptySplit_IsRefused) {
  expect_error(ErrorCode::InvalidArgument, {"test split of tiny is empty"},
               [] { LabelledImages("tiny", kFormat, split_of({2}), split_of({})); });
}

TEST(LabelledImages, PixelsWithoutLabels_AreCorrupt) {
  ImageSplit broken = split_of({1, 2});
  broken.labels.pop_back();
  expect_error(ErrorCode::Corrupt, {"1 labels and 2 images"},
               [&] { LabelledImages("tiny", kFormat, broken, split_of({1})); });
}

}  // namespace
}  // namespace shoal::train
