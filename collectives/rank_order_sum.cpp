// Sums run in blocks that stay in the first-level cache, so that each source is read from memory once and the output
// written once. Inner loops have a constant trip count, which the compiler turns into vector code without run-time
// checks.

#include "shoal/collectives/rank_order_sum.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "shoal/runtime/base/error.h"

namespace shoal::collectives {
namespace {

constexpr std::int64_t kBlockBytes = 16384;
constexpr std::int64_t kLanes = 16;

template <typename T>
void add_two(T* __restrict out, const T* __restrict a, const T* __restrict b, std::int64_t numel) {
  std::int64_t i = 0;
  for (; i + kLanes <= numel; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) out[i + lane] = a[i + lane] + b[i + lane];
  }
  for (; i < numel; ++i) out[i] = a[i] + b[i];
}

template <typename T>
void fold_one(T* __restrict out, const T* __restrict a, std::int64_t numel) {
  std::int64_t i = 0;
  for (; i + kLanes <= numel; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) out[i + lane] = out[i + lane] + a[i + lane];
  }
  for (; i < numel; ++i) out[i] = out[i] + a[i];
}

template <typename T>
void fold_two(T* __restrict out, const T* __restrict a, const T* __restrict b, std::int64_t numel) {
  std::int64_t i = 0;
  for (; i + kLanes <= numel; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) out[i + lane] = (out[i + lane] + a[i + lane]) + b[i + lane];
  }
  for (; i < numel; ++i) out[i] = (out[i] + a[i]) + b[i];
}

template <typename T>
const T* at(const void* source, std::int64_t begin) {
  return static_cast<const T*>(source) + begin;
}

/// `total` receives one block's sum and overlaps no source.
template <typename T>
void sum_block(const RankOrderSum& sum, T* total, std::int64_t begin, std::int64_t numel) {
  const std::size_t count = sum.sources.size();
  std::size_t next = 0;
  if (sum.fold == Fold::Replace) {
    if (count == 1) {
      std::memcpy(total, at<T>(sum.sources[0], begin), static_cast<std::size_t>(numel) * sizeof(T));
      return;
    }
    add_two(total, at<T>(sum.sources[0], begin), at<T>(sum.sources[1], begin), numel);
    next = 2;
  }
  for (; next + 2 <= count; next += 2) {
    fold_two(total, at<T>(sum.sources[next], begin), at<T>(sum.sources[next + 1], begin), numel);
  }
  if (next < count) fold_one(total, at<T>(sum.sources[next], begin), numel);
}

template <typename T>
void sum_range(const RankOrderSum& sum, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kBlock = kBlockBytes / static_cast<std::int64_t>(sizeof(T));
  const bool is_in_place = std::find(sum.sources.begin(), sum.sources.end(), sum.out) != sum.sources.end();
  if (is_in_place && sum.sources.size() == 1) return;
  alignas(64) std::array<T, kBlock> scratch;  // deliberately not set: written before it is read
  for (std::int64_t i = begin; i < end; i += kBlock) {
    const std::int64_t numel = std::min(kBlock, end - i);
    T* out = static_cast<T*>(sum.out) + i;
    if (!is_in_place) {
      sum_block(sum, out, i, numel);
      continue;
    }
    sum_block(sum, scratch.data(), i, numel);
    std::memcpy(out, scratch.data(), static_cast<std::size_t>(numel) * sizeof(T));
  }
}

}  // namespace

bool is_summable(DType dtype) { return dtype == DType::F32 || dtype == DType::F64 || dtype == DType::I64; }

void RankOrderSum::run(std::int64_t begin, std::int64_t end) const {
  switch (dtype) {
    case DType::F32:
      return sum_range<float>(*this, begin, end);
    case DType::F64:
      return sum_range<double>(*this, begin, end);
    case DType::I64:
      return sum_range<std::uint64_t>(*this, begin, end);  // wraps around, where a signed overflow would be undefined
    default:
      fail(ErrorCode::Internal, "[sum] only fp32, fp64 and i64 are summed");
  }
}

}  // namespace shoal::collectives
