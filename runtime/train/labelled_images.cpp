#include "shoal/runtime/train/labelled_images.h"

#include <fmt/format.h>

#include "shoal/runtime/base/error.h"

namespace shoal::train {
namespace {

void check_split(const std::string& name, const char* split, const ImageFormat& format, const ImageSplit& images) {
  if (images.labels.empty()) {
    fail(ErrorCode::InvalidArgument, fmt::format("[load_data] the {} split of {} is empty", split, name));
  }
  const auto image_bytes = static_cast<std::size_t>(format.shape.numel());
  if (images.pixels.size() != images.labels.size() * image_bytes) {
    fail(ErrorCode::Corrupt, fmt::format("[load_data] the {} split of {} has {} labels and {} images", split, name,
                                         images.labels.size(), images.pixels.size() / image_bytes));
  }
  for (std::size_t i = 0; i < images.labels.size(); ++i) {
    if (images.labels[i] < format.num_classes) continue;
    fail(ErrorCode::Corrupt, fmt::format("[load_data] label {} of the {} split of {} is {}; classes are 0 to {}", i,
                                         split, name, images.labels[i], format.num_classes - 1));
  }
}

}  // namespace

SampleSpec image_sample(const ImageFormat& format) {
  return {format.shape, DType::F32, {}, DType::I32, format.num_classes};
}

LabelledImages::LabelledImages(std::string name, const ImageFormat& format, ImageSplit train, ImageSplit test)
    : Dataset(std::move(name), image_sample(format), "images"),
      train_(std::move(train)),
      test_(std::move(test)),
      value_of_pixel_{} {
  check_split(Dataset::name(), "train", format, train_);
  check_split(Dataset::name(), "test", format, test_);
  for (std::size_t channel = 0; channel < static_cast<std::size_t>(format.shape[2]); ++channel) {
    for (std::size_t pixel = 0; pixel < 256; ++pixel) {
      const float unit = static_cast<float>(pixel) / 255.0f;
      value_of_pixel_.at(channel)[pixel] = (unit - format.mean[channel]) / format.deviation[channel];
    }
  }
}

std::int64_t LabelledImages::size(Split split) const { return static_cast<std::int64_t>(of(split).labels.size()); }

void LabelledImages::fill_sample(Split split, std::int64_t index, void* inputs, void* targets) const {
  const auto image_bytes = static_cast<std::size_t>(sample().inputs.numel());
  const auto num_channels = static_cast<std::size_t>(sample().inputs[2]);
  const std::uint8_t* pixels = of(split).pixels.data() + static_cast<std::size_t>(index) * image_bytes;
  auto* values = static_cast<float*>(inputs);
  for (std::size_t i = 0; i < image_bytes; ++i) values[i] = value_of_pixel_[i % num_channels][pixels[i]];
  *static_cast<std::int32_t*>(targets) = of(split).labels[static_cast<std::size_t>(index)];
}

}  // namespace shoal::train
