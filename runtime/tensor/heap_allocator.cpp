#include "shoal/runtime/tensor/heap_allocator.h"

#include <fmt/format.h>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/int_math.h"

namespace shoal {
namespace {

constexpr std::int64_t kAlignBytes = 64;

}  // namespace

HeapAllocator::~HeapAllocator() {
  for (const Block& block : blocks_) {
    if (block.is_held) device_->ledger().release(block.tag, block.bytes);
  }
}

TensorAllocator::Leased HeapAllocator::acquire(const Shape& shape, DType dtype, MemoryTag tag, const char* what) {
  const std::int64_t bytes = checked_mul(shape.numel(), dtype_bytes(dtype));
  const std::size_t index = take_block(round_up(bytes, kAlignBytes), what);
  Block& block = blocks_[index];
  block.bytes = block.memory.bytes();
  block.tag = tag;
  block.is_held = true;
  device_->ledger().acquire(tag, block.bytes);
  ++num_held_;
  return {Tensor(block.memory.data(), shape, dtype), static_cast<std::int64_t>(index)};
}

std::size_t HeapAllocator::take_block(std::int64_t bytes, const char* what) {
  std::vector<std::size_t>& spare = spare_[bytes];
  if (!spare.empty()) {
    const std::size_t index = spare.back();
    spare.pop_back();
    return index;
  }
  Buffer memory;
  try {
    memory = device_->reserve(bytes);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("[{}] {} bytes are not to be had: {}", what, bytes, error.what()),
                error.rank());
  }
  if (empty_.empty()) {
    empty_.push_back(blocks_.size());
    blocks_.emplace_back();
  }
  const std::size_t index = empty_.back();
  empty_.pop_back();
  blocks_[index].memory = std::move(memory);
  // So that `release`, which may not fail, never allocates.
  spare.reserve(blocks_.size());
  return index;
}

void HeapAllocator::release(std::int64_t id) noexcept {
  const auto index = static_cast<std::size_t>(id);
  if (id < 0 || index >= blocks_.size() || !blocks_[index].is_held) return;
  Block& block = blocks_[index];
  block.is_held = false;
  --num_held_;
  device_->ledger().release(block.tag, block.bytes);
  spare_[block.bytes].push_back(index);
}

void HeapAllocator::trim() {
  for (auto& [bytes, spare] : spare_) {
    for (const std::size_t index : spare) {
      blocks_[index].memory = Buffer();
      empty_.push_back(index);
    }
    spare.clear();
  }
}

}  // namespace shoal
