#pragma once

#include <array>
#include <vector>

#include "shoal/runtime/train/dataset.h"

namespace shoal::train {

/// Images of one split as unsigned bytes, (N, H, W, C), with a class each.
struct ImageSplit {
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;
};

/// How pixels become numbers: (pixel / 255 - mean[c]) / deviation[c].
struct ImageFormat {
  Shape shape;  // (H, W, C), at most 4 channels
  std::int64_t num_classes = 0;
  std::array<float, 4> mean{};
  std::array<float, 4> deviation{1, 1, 1, 1};
};

/// What one image of this format looks like to a model.
SampleSpec image_sample(const ImageFormat& format);

/// Images with a class each, held as bytes and normalised as they are drawn.
class LabelledImages final : public Dataset {
 public:
  /// Throws InvalidArgument where a split is empty, Corrupt where pixels and labels do not fit together or a label is
  /// out of range, naming the data set and the first such image.
  LabelledImages(std::string name, const ImageFormat& format, ImageSplit train, ImageSplit test);

  std::int64_t size(Split split) const override;

 protected:
  void fill_sample(Split split, std::int64_t index, void* inputs, void* targets) const override;

 private:
  const ImageSplit& of(Split split) const { return split == Split::Train ? train_ : test_; }

  ImageSplit train_;
  ImageSplit test_;
  std::array<std::array<float, 256>, 4> value_of_pixel_;  // by channel
};

}  // namespace shoal::train
