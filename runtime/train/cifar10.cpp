#include "shoal/runtime/train/cifar10.h"

#include <fmt/format.h>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/train/file_bytes.h"

namespace shoal::train {
namespace {

constexpr std::size_t kSide = 32;
constexpr std::size_t kNumChannels = 3;
constexpr std::size_t kPlane = kSide * kSide;
constexpr std::size_t kImageBytes = kNumChannels * kPlane;
constexpr std::size_t kRecordBytes = 1 + kImageBytes;
constexpr std::int64_t kMaxFileBytes = std::int64_t{1} << 30;
constexpr int kNumClasses = 10;
constexpr const char* kAdvice =
    "--data cifar10:DIR wants the folder of the binary version, with data_batch_1.bin to "
    "data_batch_5.bin and test_batch.bin";

void append_records(const std::string& path, ImageSplit& split) {
  const std::vector<std::uint8_t> bytes = read_file_bytes(path, kMaxFileBytes, kAdvice);
  if (bytes.empty() || bytes.size() % kRecordBytes != 0) {
    fail(ErrorCode::Corrupt, fmt::format("[load_data] '{}' has {} bytes; records have {}, and a whole number is wanted",
                                         path, bytes.size(), kRecordBytes));
  }
  const std::size_t num_records = bytes.size() / kRecordBytes;
  for (std::size_t record = 0; record < num_records; ++record) {
    const std::uint8_t* at = bytes.data() + record * kRecordBytes;
    if (*at >= kNumClasses) {
      fail(ErrorCode::Corrupt, fmt::format("[load_data] '{}' has label {} in record {}; classes are 0 to {}", path, *at,
                                           record, kNumClasses - 1));
    }
    split.labels.push_back(*at);
    // Planes become interleaved channels.
    for (std::size_t pixel = 0; pixel < kPlane; ++pixel) {
      for (std::size_t channel = 0; channel < kNumChannels; ++channel) {
        split.pixels.push_back(at[1 + channel * kPlane + pixel]);
      }
    }
  }
}

}  // namespace

ImageFormat cifar10_format() {
  // Mean and standard deviation of the training images' channels.
  return {{kSide, kSide, kNumChannels}, kNumClasses, {0.4914f, 0.4822f, 0.4465f}, {0.2470f, 0.2435f, 0.2616f}};
}

std::unique_ptr<Dataset> load_cifar10(const std::string& folder) {
  ImageSplit train;
  ImageSplit test;
  for (int file = 1; file <= 5; ++file) append_records(fmt::format("{}/data_batch_{}.bin", folder, file), train);
  append_records(folder + "/test_batch.bin", test);
  return std::make_unique<LabelledImages>("cifar10", cifar10_format(), std::move(train), std::move(test));
}

}  // namespace shoal::train
