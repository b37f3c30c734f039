#pragma once

#include <cstdint>
#include <utility>

#include "shoal/runtime/device/memory_ledger.h"

namespace shoal {

class Device;

/// Bytes of device memory, aligned to 64, counted in the device's ledger until destroyed. Move-only.
/// The owner sees to it that no enqueued operation still uses them when they go.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer taken(std::move(other));
    swap(taken);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  void* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  friend class Device;
  Buffer(Device& device, void* data, std::int64_t bytes, MemoryTag tag, bool is_counted)
      : device_(&device), data_(data), bytes_(bytes), tag_(tag), is_counted_(is_counted) {}
  void swap(Buffer& other) {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(tag_, other.tag_);
    std::swap(is_counted_, other.is_counted_);
  }

  Device* device_ = nullptr;
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
  MemoryTag tag_ = MemoryTag::Parameters;
  bool is_counted_ = false;
};

}  // namespace shoal
