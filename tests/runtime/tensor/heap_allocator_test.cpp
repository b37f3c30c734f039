#include "shoal/runtime/tensor/heap_allocator.h"

#include <gtest/gtest.h>

#include <string>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/runtime.h"

namespace shoal {
namespace {

class HeapAllocatorTest : public ::testing::Test {
 protected:
  std::unique_ptr<Device> device_ = Runtime().open_device(DeviceKind::Host);
  HeapAllocator heap_{*device_};
};

TEST_F(HeapAllocatorTest, Lease_IsCountedUnderItsTagUntilReleased) {
  const auto lease = heap_.acquire(Shape{3, 5}, DType::F32, MemoryTag::Activations, "x");
  EXPECT_EQ(lease.tensor.shape(), (Shape{3, 5}));
  EXPECT_EQ(lease.tensor.dtype(), DType::F32);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(lease.tensor.data()) % 64, 0U);
  EXPECT_EQ(device_->ledger().live()[MemoryTag::Activations], 64);
  EXPECT_EQ(heap_.num_held(), 1);
  heap_.release(lease.id);
  EXPECT_EQ(device_->ledger().live().total, 0);
  EXPECT_EQ(heap_.num_held(), 0);
}

TEST_F(HeapAllocatorTest, LeasesHeldTogether_NeverShareBytes) {
  const auto a = heap_.acquire(Shape{16}, DType::F32, MemoryTag::Activations, "a");
  const auto b = heap_.acquire(Shape{16}, DType::F32, MemoryTag::Activations, "b");
  EXPECT_NE(a.id, b.id);
  EXPECT_NE(a.tensor.data(), b.tensor.data());
}

TEST_F(HeapAllocatorTest, ReleasedBlock_ServesTheNextLeaseOfItsSize_UnderAnyTag) {
  const auto first = heap_.acquire(Shape{100}, DType::F32, MemoryTag::Activations, "first");
  heap_.release(first.id);
  const auto other_size = heap_.acquire(Shape{200}, DType::F32, MemoryTag::Activations, "other");
  EXPECT_NE(other_size.tensor.data(), first.tensor.data());
  const auto again = heap_.acquire(Shape{97}, DType::F32, MemoryTag::Workspace, "again");
  EXPECT_EQ(again.tensor.data(), first.tensor.data());
  EXPECT_EQ(device_->ledger().live()[MemoryTag::Workspace], 448);
  EXPECT_EQ(device_->ledger().live()[MemoryTag::Activations], 832);
  EXPECT_EQ(device_->reserved_bytes(), 448 + 832);
}

TEST_F(HeapAllocatorTest, Trim_GivesBackWhatNobodyHolds) {
  const auto kept = heap_.acquire(Shape{16}, DType::F32, MemoryTag::Activations, "kept");
  const auto gone = heap_.acquire(Shape{32}, DType::F32, MemoryTag::Activations, "gone");
  heap_.release(gone.id);
  heap_.trim();
  EXPECT_EQ(device_->reserved_bytes(), 64);
  const auto next = heap_.acquire(Shape{48}, DType::F32, MemoryTag::Activations, "next");
  EXPECT_NE(next.id, kept.id);
  heap_.release(next.id);
  heap_.release(kept.id);
  heap_.trim();
  EXPECT_EQ(device_->reserved_bytes(), 0);
}

TEST_F(HeapAllocatorTest, EmptyShapes_AreLeasesWithoutBytes) {
  const auto lease = heap_.acquire(Shape{0, 4}, DType::F32, MemoryTag::Activations, "empty");
  EXPECT_TRUE(lease.tensor.is_defined());
  EXPECT_EQ(lease.tensor.numel(), 0);
  EXPECT_EQ(device_->ledger().live().total, 0);
  heap_.release(lease.id);
}

TEST_F(HeapAllocatorTest, ReleasingTwice_IsIgnored) {
  const auto lease = heap_.acquire(Shape{4}, DType::F32, MemoryTag::Activations, "x");
  heap_.release(lease.id);
  heap_.release(lease.id);
  heap_.release(-1);
  heap_.release(1000);
  EXPECT_EQ(heap_.num_held(), 0);
  const auto a = heap_.acquire(Shape{4}, DType::F32, MemoryTag::Activations, "a");
  const auto b = heap_.acquire(Shape{4}, DType::F32, MemoryTag::Activations, "b");
  EXPECT_NE(a.tensor.data(), b.tensor.data());
}

TEST(HeapAllocatorLimits, BeyondTheLimit_NamesTheLeaseAndChangesNothing) {
  RuntimeOptions options;
  options.memory_limit_bytes = 128;
  const auto device = Runtime(options).open_device(DeviceKind::Host);
  HeapAllocator heap(*device);
  const auto kept = heap.acquire(Shape{16}, DType::F32, MemoryTag::Activations, "kept");
  try {
    heap.acquire(Shape{32}, DType::F32, MemoryTag::Activations, "attention_scores");
    FAIL() << "did not throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::OutOfMemory);
    EXPECT_EQ(error.operation(), "attention_scores");
  }
  EXPECT_EQ(heap.num_held(), 1);
  EXPECT_EQ(device->reserved_bytes(), kept.tensor.num_bytes());
  heap.acquire(Shape{16}, DType::F32, MemoryTag::Activations, "fits");
}

TEST(HeapAllocatorLimits, DestroyedWithLeases_LeavesTheLedgerClean) {
  const auto device = Runtime().open_device(DeviceKind::Sim);
  {
    HeapAllocator heap(*device);
    heap.acquire(Shape{16}, DType::F32, MemoryTag::Workspace, "held");
  }
  EXPECT_EQ(device->ledger().live().total, 0);
  EXPECT_EQ(device->reserved_bytes(), 0);
}

}  // namespace
}  // namespace shoal
