#include "shoal/runtime/device/byte_range.h"

#include <gtest/gtest.h>

#include "shoal/runtime/base/error.h"

namespace shoal {
namespace {

TEST(ByteRanges, EmptyRanges_AreDropped) {
  const int value = 0;
  const ByteRanges ranges{{&value, 4}, {&value, 0}, {nullptr, 0}};
  EXPECT_EQ(ranges.count(), 1);
  EXPECT_EQ(ranges.begin()->begin, &value);
  EXPECT_EQ(ranges.end() - ranges.begin(), 1);
}

TEST(ByteRanges, BeyondTheCapacity_IsInternal) {
  const char bytes[ByteRanges::kCapacity + 1] = {};
  ByteRanges ranges;
  for (int i = 0; i < ByteRanges::kCapacity; ++i) ranges.add({bytes + i, 1});
  EXPECT_EQ(ranges.count(), ByteRanges::kCapacity);
  try {
    ranges.add({bytes + ByteRanges::kCapacity, 1});
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Internal);
  }
}

}  // namespace
}  // namespace shoal
