#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace shoal {

/// Bytes [begin, begin + bytes) of device memory. Empty ranges conflict with nothing.
struct ByteRange {
  const void* begin = nullptr;
  std::int64_t bytes = 0;
};

/// The ranges that one operation reads, or writes. A value without an allocation; empty ranges are dropped.
class ByteRanges {
 public:
  static constexpr int kCapacity = 16;

  ByteRanges() = default;
  ByteRanges(std::initializer_list<ByteRange> ranges) {
    for (const ByteRange& range : ranges) add(range);
  }
  /// Throws Internal beyond kCapacity ranges.
  void add(ByteRange range);

  const ByteRange* begin() const { return ranges_.data(); }
  const ByteRange* end() const { return ranges_.data() + count_; }
  int count() const { return count_; }

 private:
  std::array<ByteRange, kCapacity> ranges_{};
  int count_ = 0;
};

}  // namespace shoal
