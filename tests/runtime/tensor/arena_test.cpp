#include "shoal/runtime/tensor/arena.h"

#include <gtest/gtest.h>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/runtime.h"

namespace shoal {
namespace {

TEST(Arena, IsReservedWhileItLives) {
  for (const DeviceKind kind : {DeviceKind::Host, DeviceKind::Sim}) {
    const auto device = Runtime().open_device(kind);
    {
      const Arena arena(*device, 1000);
      EXPECT_EQ(arena.bytes(), 1000);
      EXPECT_EQ(device->reserved_bytes(), 1000);
      EXPECT_EQ(device->ledger().live().total, 0);
      EXPECT_EQ(static_cast<char*>(arena.at(1000)) - static_cast<char*>(arena.at(0)), 1000);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.at(0)) % 64, 0U);
    }
    EXPECT_EQ(device->reserved_bytes(), 0);
  }
}

TEST(Arena, OffsetOutside_IsInternal) {
  const auto device = Runtime().open_device(DeviceKind::Host);
  const Arena arena(*device, 64);
  for (const std::int64_t offset : {-1, 65}) {
    try {
      arena.at(offset);
      FAIL() << "did not throw";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Internal);
    }
  }
  const Arena empty(*device, 0);
  EXPECT_EQ(empty.at(0), nullptr);
}

TEST(Arena, BeyondTheLimit_IsOutOfMemory) {
  RuntimeOptions options;
  options.memory_limit_bytes = 100;
  const auto device = Runtime(options).open_device(DeviceKind::Sim);
  try {
    const Arena arena(*device, 101);
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::OutOfMemory);
  }
}

}  // namespace
}  // namespace shoal
