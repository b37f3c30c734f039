#include "shoal/tests/support/guarded_tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "shoal/runtime/base/error.h"

namespace shoal::test {
namespace {

constexpr std::byte kPoison{0xff};
constexpr std::size_t kAlignBytes = 64;

template <typename T>
std::vector<double> widened(std::span<const std::byte> bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
  return values;
}

double from_bf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

double from_f16(std::uint16_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  const int exponent = (bits >> 10) & 0x1f;
  const int mantissa = bits & 0x3ff;
  if (exponent == 31) return mantissa != 0 ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

template <typename Convert>
std::vector<double> from_halves(std::span<const std::byte> bytes, const Convert& convert) {
  std::vector<double> values(bytes.size() / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t bits;
    std::memcpy(&bits, bytes.data() + 2 * i, 2);
    values[i] = convert(bits);
  }
  return values;
}

}  // namespace

std::vector<double> to_doubles(std::span<const std::byte> bytes, DType dtype) {
  switch (dtype) {
    case DType::F32:
      return widened<float>(bytes);
    case DType::F64:
      return widened<double>(bytes);
    case DType::I64:
      return widened<std::int64_t>(bytes);
    case DType::I32:
      return widened<std::int32_t>(bytes);
    case DType::U8:
      return widened<std::uint8_t>(bytes);
    case DType::BF16:
      return from_halves(bytes, from_bf16);
    case DType::F16:
      return from_halves(bytes, from_f16);
  }
  fail(ErrorCode::Internal, "[to_doubles] unknown dtype");
}

GuardedTensor::GuardedTensor(const Shape& shape, DType dtype, std::int64_t element_offset, std::byte guard)
    : guard_(guard) {
  const std::int64_t content_bytes = shape.numel() * dtype_bytes(dtype);
  const std::int64_t offset_bytes = element_offset * dtype_bytes(dtype);
  storage_.assign(static_cast<std::size_t>(content_bytes + offset_bytes + 2 * kGuardBytes) + kAlignBytes, guard);
  const auto address = std::bit_cast<std::uintptr_t>(storage_.data()) + static_cast<std::size_t>(kGuardBytes);
  const std::size_t to_boundary = (kAlignBytes - address % kAlignBytes) % kAlignBytes;
  begin_ = static_cast<std::size_t>(kGuardBytes + offset_bytes) + to_boundary;
  tensor_ = Tensor(storage_.data() + begin_, shape, dtype);
  poison();
}

std::span<std::byte> GuardedTensor::bytes() {
  return {storage_.data() + begin_, static_cast<std::size_t>(tensor_.num_bytes())};
}

std::span<const std::byte> GuardedTensor::bytes() const {
  return {storage_.data() + begin_, static_cast<std::size_t>(tensor_.num_bytes())};
}

void GuardedTensor::set_bytes(std::span<const std::byte> bytes) {
  if (bytes.size() != this->bytes().size()) {
    fail(ErrorCode::InvalidArgument,
         fmt::format("[guarded_tensor] {} bytes for a tensor of {}", bytes.size(), this->bytes().size()));
  }
  std::copy(bytes.begin(), bytes.end(), this->bytes().begin());
}

void GuardedTensor::poison() { std::fill(bytes().begin(), bytes().end(), kPoison); }

std::vector<double> GuardedTensor::values() const { return to_doubles(bytes(), tensor_.dtype()); }

::testing::AssertionResult GuardedTensor::guards_are_intact() const {
  const std::size_t end = begin_ + bytes().size();
  for (std::size_t i = 0; i < storage_.size(); ++i) {
    if (i == begin_) i = end;
    if (i >= storage_.size()) break;
    if (storage_[i] == guard_) continue;
    if (i < begin_) {
      return ::testing::AssertionFailure() << fmt::format("byte {} before the tensor was written", begin_ - i);
    }
    return ::testing::AssertionFailure() << fmt::format("byte {} past the tensor's end was written", i - end);
  }
  return ::testing::AssertionSuccess();
}

}  // namespace shoal::test
