#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shoal/runtime/tensor/tensor.h"

namespace shoal::test {

/// What guard bands hold. Around what is only read: NaN in every float type, so that a result shows what was read
/// beyond an end. Around what is written: a small number, which a copy of poison does not look like.
inline constexpr std::byte kReadGuard{0xff};
inline constexpr std::byte kWriteGuard{0xa5};

/// A tensor in host memory between two guard bands, poisoned with 0xff (NaN in every float type) until filled. Its
/// first element lies `element_offset` elements after a 64-byte boundary.
class GuardedTensor {
 public:
  static constexpr std::int64_t kGuardBytes = 256;

  GuardedTensor(const Shape& shape, DType dtype, std::int64_t element_offset = 0, std::byte guard = kWriteGuard);
  GuardedTensor(GuardedTensor&&) noexcept = default;
  GuardedTensor& operator=(GuardedTensor&&) noexcept = default;

  const Tensor& tensor() const { return tensor_; }
  std::span<std::byte> bytes();
  std::span<const std::byte> bytes() const;

  /// Copies `bytes` in; their number must be the tensor's.
  void set_bytes(std::span<const std::byte> bytes);
  void poison();
  /// The elements as doubles; exact for every dtype but large I64.
  std::vector<double> values() const;

  ::testing::AssertionResult guards_are_intact() const;

 private:
  std::vector<std::byte> storage_;
  std::size_t begin_ = 0;  // of the contents, in storage_
  std::byte guard_;
  Tensor tensor_;
};

/// Any dtype's elements as doubles.
std::vector<double> to_doubles(std::span<const std::byte> bytes, DType dtype);

}  // namespace shoal::test
