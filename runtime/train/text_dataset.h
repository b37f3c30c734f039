#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "shoal/runtime/train/dataset.h"

namespace shoal::train {

/// Ids that a byte-level model knows: one for each byte.
inline constexpr std::int64_t kNumBytes = 256;

/// A text as bytes, seen through windows of `context` bytes whose targets are the bytes that follow. The last tenth is
/// held out. Training sample i is the window that begins at byte i, drawn with replacement, and an epoch draws as many
/// windows as the training part is long. Test samples are at most kMaxTestWindows windows that don't overlap, spread
/// evenly over the held-out part.
class TextDataset final : public Dataset {
 public:
  static constexpr std::int64_t kMaxTestWindows = 256;

  /// Throws InvalidArgument, saying how many bytes are needed, where either part is shorter than one window.
  TextDataset(std::string name, std::vector<std::uint8_t> text, std::int64_t context);

  std::int64_t size(Split split) const override;
  std::int64_t draws_per_epoch() const override;
  bool draws_with_replacement() const override { return true; }

 protected:
  void fill_sample(Split split, std::int64_t index, void* inputs, void* targets) const override;

 private:
  std::vector<std::uint8_t> text_;
  std::int64_t context_;
  std::int64_t train_bytes_;
  std::int64_t num_test_windows_;
};

/// The King James text that Debian ships, printed by the program of the package bible-kjv, which a stop request ends.
std::unique_ptr<Dataset> load_bible(std::int64_t context, const std::stop_token& stop = {});
/// The bytes of a file.
std::unique_ptr<Dataset> load_text_file(const std::string& path, std::int64_t context);

}  // namespace shoal::train
