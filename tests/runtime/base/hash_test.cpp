#include "shoal/runtime/base/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace shoal {
namespace {

// The published XXH64 values with seed 0.
TEST(Hash, KnownAnswers) {
  EXPECT_EQ(hash_text(""), 0xEF46DB3751D8E999ULL);
  EXPECT_EQ(hash_text("a"), 0xD24EC4F1A98C6E5BULL);
  EXPECT_EQ(hash_text("abc"), 0x44BC2CF5AD770999ULL);
  EXPECT_EQ(hash_bytes(nullptr, 0), hash_text(""));
}

TEST(Hash, DependsOnEveryByte) {
  std::string text(100, 'x');
  const std::uint64_t before = hash_text(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = 'y';
    EXPECT_NE(hash_text(text), before) << i;
    text[i] = 'x';
  }
}

}  // namespace
}  // namespace shoal
