#include "shoal/runtime/device/device.h"

#include <fmt/format.h>

#include "shoal/runtime/base/error.h"

namespace shoal {

Buffer Device::allocate(std::int64_t bytes, MemoryTag tag) {
  check_process("allocate");
  if (bytes == 0) return {};
  check_limit(bytes);
  Buffer buffer(*this, allocate_bytes(bytes), bytes, tag, true);
  ledger_.acquire(tag, bytes);
  allocated_bytes_ += bytes;
  return buffer;
}

Buffer Device::reserve(std::int64_t bytes) {
  check_process("reserve");
  if (bytes == 0) return {};
  check_limit(bytes);
  Buffer buffer(*this, allocate_bytes(bytes), bytes, MemoryTag::Workspace, false);
  reserved_bytes_ += bytes;
  return buffer;
}

void Device::check_limit(std::int64_t bytes) {
  ledger_.check();
  if (bytes < 0) {
    fail(ErrorCode::InvalidArgument, fmt::format("[allocate] {} bytes on device '{}'; 0 or more", bytes, name_));
  }
  const std::int64_t held = allocated_bytes_ + reserved_bytes_;
  if (bytes > memory_limit_bytes_ - held) {
    fail(
        ErrorCode::OutOfMemory,
        fmt::format("[allocate] {} bytes more on device '{}' exceed its memory limit of {} bytes, of which {} are held "
                    "({} of them reserved for an arena); raise the limit or hold less\n{}",
                    bytes, name_, memory_limit_bytes_, held, reserved_bytes_, ledger_.to_table()));
  }
}

void Device::give_back(const Buffer& buffer) noexcept {
  free_bytes(buffer.data_, buffer.bytes_);
  if (!buffer.is_counted_) {
    reserved_bytes_ -= buffer.bytes_;
    return;
  }
  allocated_bytes_ -= buffer.bytes_;
  ledger_.release(buffer.tag_, buffer.bytes_);
}

}  // namespace shoal
