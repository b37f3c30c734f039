#include "shoal/runtime/train/text_dataset.h"

#include "shoal/tests/runtime/train/expect_error.h"
#include "shoal/tests/runtime/train/temp_folder.h"

namespace shoal::train {
namespace {

using test::expect_error;

// Byte i is i modulo 256, so that a window says where it begins.
std::vector<std::uint8_t> counting_text(std::size_t count) {
  std::vector<std::uint8_t> text(count);
  for (std::size_t i = 0; i < count; ++i) text[i] = static_cast<std::uint8_t>(i);
  return text;
}

struct Window {
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> targets;
};

Window window_of(const Dataset& data, Split split, std::int64_t index) {
  const std::int64_t context = data.sample().inputs[0];
  Window window{std::vector<std::int32_t>(static_cast<std::size_t>(context)),
                std::vector<std::int32_t>(static_cast<std::size_t>(context))};
  const std::vector<SampleRef> samples = {{index}};
  data.fill_batch(split, samples, Tensor(window.inputs.data(), {1, context}, DType::I32),
                  Tensor(window.targets.data(), {1, context}, DType::I32));
  return window;
}

TEST(TextDataset, TargetsAreTheBytesThatFollow) {
  const TextDataset data("text", counting_text(100), 4);
  EXPECT_EQ(window_of(data, Split::Train, 7).inputs, (std::vector<std::int32_t>{7, 8, 9, 10}));
  EXPECT_EQ(window_of(data, Split::Train, 7).targets, (std::vector<std::int32_t>{8, 9, 10, 11}));
}

TEST(TextDataset, LastTenthIsHeldOut) {
  const TextDataset data("text", counting_text(100), 4);
  // The last training window's targets end at byte 89, the last of the first nine tenths.
  EXPECT_EQ(data.size(Split::Train), 86);
  EXPECT_EQ(window_of(data, Split::Train, 85).targets.back(), 89);
  // Bytes 90 to 99 hold two windows of four with a target each.
  EXPECT_EQ(data.size(Split::Test), 2);
  EXPECT_EQ(window_of(data, Split::Test, 0).inputs.front(), 90);
  EXPECT_LE(window_of(data, Split::Test, 1).targets.back(), 99);
  EXPECT_EQ(data.draws_per_epoch(), 22);
  EXPECT_TRUE(data.draws_with_replacement());
}

TEST(TextDataset, LongText_IsTestedOnWindowsThatAreSpreadAndApart) {
  const std::int64_t context = 8;
  const TextDataset data("text", counting_text(60000), context);
  EXPECT_EQ(data.size(Split::Test), TextDataset::kMaxTestWindows);
  const std::int64_t held_out = 54000;
  for (std::int64_t i = 0; i < data.size(Split::Test); ++i) {
    const std::int64_t expected = held_out + i * (5999 / TextDataset::kMaxTestWindows);
    EXPECT_EQ(window_of(data, Split::Test, i).inputs.front(), expected % 256);
  }
  EXPECT_GE(5999 / TextDataset::kMaxTestWindows, context);
}

TEST(TextDataset, ShortText_SaysHowMuchIsNeeded) {
  expect_error(ErrorCode::InvalidArgument, {"49 bytes", "at least 50"},
               [] { TextDataset("text", counting_text(49), 4); });
  EXPECT_EQ(TextDataset("text", counting_text(50), 4).size(Split::Test), 1);
  expect_error(ErrorCode::InvalidArgument, {"0 bytes"}, [] { TextDataset("text", {}, 4); });
}

TEST(TextDataset, FromFile_HoldsItsBytes) {
  const test::TempFolder folder;
  const auto data = load_text_file(folder.write("text", counting_text(100)), 4);
  EXPECT_EQ(window_of(*data, Split::Train, 3).inputs.front(), 3);
  EXPECT_EQ(data->item_name(), "tokens");
}

TEST(TextDataset, MissingFile_NamesIt) {
  expect_error(ErrorCode::InvalidArgument, {"/nonexistent/text", "text:FILE"},
               [] { load_text_file("/nonexistent/text", 4); });
}

}  // namespace
}  // namespace shoal::train
