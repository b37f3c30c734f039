#include "shoal/runtime/train/text_dataset.h"

#include <fmt/format.h>

#include <algorithm>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/train/child_output.h"
#include "shoal/runtime/train/file_bytes.h"

namespace shoal::train {
namespace {

constexpr std::int64_t kMaxTextBytes = std::int64_t{1} << 32;
constexpr std::int64_t kHeldOutShare = 10;  // one part of so many

SampleSpec windows(std::int64_t context) { return {{context}, DType::I32, {context}, DType::I32, kNumBytes}; }

}  // namespace

TextDataset::TextDataset(std::string name, std::vector<std::uint8_t> text, std::int64_t context)
    : Dataset(std::move(name), windows(context), "tokens"), text_(std::move(text)), context_(context) {
  const auto num_bytes = static_cast<std::int64_t>(text_.size());
  train_bytes_ = num_bytes - num_bytes / kHeldOutShare;
  // A window's targets reach one byte beyond it.
  num_test_windows_ = std::min(kMaxTestWindows, (num_bytes - train_bytes_ - 1) / context_);
  if (num_test_windows_ < 1) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[load_data] {} has {} bytes; with windows of {} bytes and a tenth held out, at least {} are "
                     "needed",
                     Dataset::name(), num_bytes, context_, kHeldOutShare * (context_ + 1)));
  }
}

std::int64_t TextDataset::size(Split split) const {
  return split == Split::Train ? train_bytes_ - context_ : num_test_windows_;
}

std::int64_t TextDataset::draws_per_epoch() const { return train_bytes_ / context_; }

void TextDataset::fill_sample(Split split, std::int64_t index, void* inputs, void* targets) const {
  std::int64_t begin = index;
  if (split == Split::Test) {
    const std::int64_t room = static_cast<std::int64_t>(text_.size()) - train_bytes_ - 1;
    begin = train_bytes_ + index * (room / num_test_windows_);
  }
  const std::uint8_t* bytes = text_.data() + begin;
  std::copy_n(bytes, context_, static_cast<std::int32_t*>(inputs));
  std::copy_n(bytes + 1, context_, static_cast<std::int32_t*>(targets));
}

std::unique_ptr<Dataset> load_bible(std::int64_t context, const std::stop_token& stop) {
  std::vector<std::uint8_t> text =
      read_child_output({"bible", "-f", "gen1:1-rev22:21"}, {.stop = stop},
                        "install the Debian package bible-kjv, or give a file: --data text:FILE");
  return std::make_unique<TextDataset>("text", std::move(text), context);
}

std::unique_ptr<Dataset> load_text_file(const std::string& path, std::int64_t context) {
  std::vector<std::uint8_t> text = read_file_bytes(path, kMaxTextBytes, "--data text:FILE wants a readable file");
  return std::make_unique<TextDataset>("text:" + path, std::move(text), context);
}

}  // namespace shoal::train
