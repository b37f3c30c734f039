#include "shoal/runtime/device/device.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/runtime.h"

// Under a sanitizer a request that the system cannot serve returns null, as it does without.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace shoal {
namespace {

// Memory of host and sim devices, which share the accounting.
class DeviceMemory : public ::testing::TestWithParam<DeviceKind> {
 protected:
  static std::unique_ptr<Device> open(RuntimeOptions options = {}) { return Runtime(options).open_device(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Kinds, DeviceMemory, ::testing::Values(DeviceKind::Host, DeviceKind::Sim),
                         [](const auto& info) { return info.param == DeviceKind::Host ? "Host" : "Sim"; });

TEST_P(DeviceMemory, Buffers_AreAlignedAndCountedWhileTheyLive) {
  const auto device = open();
  for (const std::int64_t bytes : {1, 63, 64, 65, 5000, 3'000'000}) {
    const Buffer buffer = device->allocate(bytes, MemoryTag::Gradients);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0U);
    EXPECT_EQ(buffer.bytes(), bytes);
    EXPECT_EQ(device->ledger().live()[MemoryTag::Gradients], bytes);
  }
  EXPECT_EQ(device->ledger().live().total, 0);
  EXPECT_EQ(device->ledger().peak()[MemoryTag::Gradients], 3'000'000);
}

TEST_P(DeviceMemory, Move_HandsTheBytesOver) {
  const auto device = open();
  Buffer first = device->allocate(100, MemoryTag::Inputs);
  void* const data = first.data();
  Buffer second = std::move(first);
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move): the moved-from state is the subject
  Buffer third = device->allocate(50, MemoryTag::Inputs);
  third = std::move(second);
  EXPECT_EQ(device->ledger().live()[MemoryTag::Inputs], 100);
  third = Buffer();
  EXPECT_EQ(device->ledger().live()[MemoryTag::Inputs], 0);
}

TEST_P(DeviceMemory, ZeroBytes_GiveAnEmptyBuffer_NegativeIsRefused) {
  const auto device = open();
  EXPECT_EQ(device->allocate(0, MemoryTag::Inputs).data(), nullptr);
  EXPECT_EQ(device->reserve(0).bytes(), 0);
  for (const bool is_reserve : {false, true}) {
    try {
      if (is_reserve) {
        device->reserve(-1);
      } else {
        device->allocate(-1, MemoryTag::Inputs);
      }
      FAIL() << "did not throw";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    }
  }
}

TEST_P(DeviceMemory, Limit_CountsBuffersAndReservedBytes_AndNamesTheHolders) {
  RuntimeOptions options;
  options.memory_limit_bytes = 1000;
  const auto device = open(options);
  const Buffer kept = device->allocate(600, MemoryTag::OptimizerState);
  const Buffer arena = device->reserve(300);
  EXPECT_EQ(device->reserved_bytes(), 300);
  // What an arena parcels out is counted by tag, but was already counted towards the limit.
  device->ledger().acquire(MemoryTag::Activations, 300);
  EXPECT_EQ(device->allocate(100, MemoryTag::Inputs).bytes(), 100);
  for (const std::int64_t bytes : {std::int64_t{101}, std::int64_t{1} << 62}) {
    try {
      device->allocate(bytes, MemoryTag::Inputs);
      FAIL() << "did not throw";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::OutOfMemory);
      const std::string text = error.what();
      EXPECT_NE(text.find("limit of 1000 bytes, of which 900"), std::string::npos) << text;
      EXPECT_NE(text.find("optimizer_state"), std::string::npos) << text;
    }
  }
  EXPECT_THROW(device->reserve(101), Error);
  EXPECT_EQ(device->ledger().live()[MemoryTag::Inputs], 0);  // a refused call changes nothing
  EXPECT_EQ(device->allocate(100, MemoryTag::Inputs).bytes(), 100);
}

// The buffer goes without a word, as a destructor must; the calls that can throw do.
TEST_P(DeviceMemory, BufferThatIsNotCountedAnyMore_IsInternalAtTheNextCall) {
  const auto device = open({});
  const auto stream = device->make_stream(StreamRole::Compute, "compute");
  {
    const Buffer buffer = device->allocate(64, MemoryTag::Inputs);
    device->ledger().release(MemoryTag::Inputs, 60);
    stream->synchronize();
  }
  const std::vector<std::function<void()>> calls = {[&] { device->allocate(1, MemoryTag::Inputs); },
                                                    [&] { device->reserve(1); }, [&] { stream->synchronize(); }};
  for (const auto& call : calls) {
    try {
      call();
      ADD_FAILURE() << "did not throw";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Internal);
      EXPECT_NE(std::string(error.what()).find("64 bytes of inputs"), std::string::npos) << error.what();
    }
  }
}

TEST(DeviceMemoryHost, SystemWithoutMemory_IsOutOfMemory) {
  const auto device = Runtime().open_device(DeviceKind::Host);
  try {
    device->allocate(std::int64_t{1} << 60, MemoryTag::Inputs);
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::OutOfMemory);
  }
  EXPECT_EQ(device->ledger().live().total, 0);
}

TEST(DeviceMemoryHost, CheckingDevice_PoisonsWithNan) {
  RuntimeOptions options;
  options.check_hazards = true;
  const auto device = Runtime(options).open_device(DeviceKind::Host);
  const Buffer buffer = device->allocate(4000, MemoryTag::Activations);
  const Buffer arena = device->reserve(4000);
  for (const Buffer* memory : {&buffer, &arena}) {
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(std::isnan(static_cast<const float*>(memory->data())[i]));
  }
}

TEST_P(DeviceMemory, Device_TellsWhatItIs) {
  RuntimeOptions options;
  options.threads_per_rank = 2;
  options.deadline = std::chrono::milliseconds(1234);
  const auto device = Runtime(options).open_device(GetParam(), 5);
  EXPECT_EQ(device->kind(), GetParam());
  EXPECT_EQ(device->name(), GetParam() == DeviceKind::Host ? "host:5" : "sim:5");
  EXPECT_EQ(device->num_workers(), 2);
  EXPECT_EQ(device->default_deadline(), options.deadline);
  EXPECT_EQ(device->scope(), nullptr);
  device->set_scope("block.0");
  EXPECT_STREQ(device->scope(), "block.0");
}

}  // namespace
}  // namespace shoal
