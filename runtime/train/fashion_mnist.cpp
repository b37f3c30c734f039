#include "shoal/runtime/train/fashion_mnist.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/train/idx_file.h"

namespace shoal::train {
namespace {

constexpr std::int64_t kSide = 28;
constexpr std::int64_t kMaxImageBytes = std::int64_t{1} << 30;
// Mean and standard deviation of the training images' pixels.
constexpr float kMean = 0.2860f;
constexpr float kDeviation = 0.3530f;
constexpr const char* kAdvice =
    "install the Debian package dataset-fashion-mnist, or give the folder that holds the four files: "
    "--data fashion-mnist:DIR";

std::string find_file(const std::string& folder, const std::string& name) {
  const std::string plain = folder + "/" + name;
  std::error_code ignored;  // what cannot be looked at cannot be read either, and reading says why
  return std::filesystem::exists(plain, ignored) ? plain : plain + ".gz";
}

ImageSplit load_split(const std::string& folder, const std::string& prefix) {
  const std::string image_path = find_file(folder, prefix + "-images-idx3-ubyte");
  const std::string label_path = find_file(folder, prefix + "-labels-idx1-ubyte");
  IdxFile images = read_idx_file(image_path, 3, kMaxImageBytes, kAdvice);
  IdxFile labels = read_idx_file(label_path, 1, kMaxImageBytes, kAdvice);
  if (images.dims[1] != kSide || images.dims[2] != kSide) {
    fail(ErrorCode::Corrupt, fmt::format("[load_data] '{}' holds images of {} x {}; Fashion-MNIST's are {} x {}",
                                         image_path, images.dims[1], images.dims[2], kSide, kSide));
  }
  if (images.dims[0] != labels.dims[0]) {
    fail(ErrorCode::Corrupt, fmt::format("[load_data] '{}' holds {} images, '{}' {} labels", image_path, images.dims[0],
                                         label_path, labels.dims[0]));
  }
  return {std::move(images.data), std::move(labels.data)};
}

}  // namespace

ImageFormat fashion_mnist_format() { return {{kSide, kSide, 1}, 10, {kMean}, {kDeviation}}; }

std::unique_ptr<Dataset> load_fashion_mnist(const std::string& folder) {
  ImageSplit train = load_split(folder, "train");
  ImageSplit test = load_split(folder, "t10k");
  return std::make_unique<LabelledImages>("fashion-mnist", fashion_mnist_format(), std::move(train), std::move(test));
}

}  // namespace shoal::train
