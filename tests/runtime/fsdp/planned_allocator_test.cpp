#include "shoal/runtime/fsdp/planned_allocator.h"

#include <gtest/gtest.h>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/runtime.h"

namespace shoal::test {
namespace {

using fsdp::TraceKind;

class PlannedAllocatorTest : public testing::Test {
 protected:
  PlannedAllocatorTest() {
    plan_.leases = {{.tag = MemoryTag::Activations, .bytes = 40, .offset = 128},
                    {.tag = MemoryTag::Workspace, .bytes = 8, .offset = 0}};
    plan_.num_activation_leases = 2;
    plan_.steps = {{TraceKind::Acquire, 0}, {TraceKind::Acquire, 1}, {TraceKind::Release, 0}, {TraceKind::Release, 1}};
    begin();
  }

  void begin() {
    cursor_.begin(plan_);
    allocator_->begin(plan_);
  }
  TensorAllocator::Leased first() { return allocator_->acquire({10}, DType::F32, MemoryTag::Activations, "x"); }
  TensorAllocator::Leased second() { return allocator_->acquire({1}, DType::F64, MemoryTag::Workspace, "scratch"); }

  void expect_refusal(const std::function<void()>& call, const std::string& part) {
    try {
      call();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Unsupported);
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }

  std::unique_ptr<Device> device_ = Runtime().open_device(DeviceKind::Host);
  Arena arena_{*device_, 256};
  fsdp::Plan plan_;
  fsdp::TraceCursor cursor_;
  fsdp::Lingering<fsdp::PlannedAllocator> allocator_{new fsdp::PlannedAllocator(*device_, arena_, cursor_)};
};

TEST_F(PlannedAllocatorTest, TheNthAcquisitionGetsTheNthPlace_AndIsCounted) {
  const auto x = first();
  EXPECT_EQ(x.tensor.data(), arena_.at(128));
  EXPECT_EQ(device_->ledger().live()[MemoryTag::Activations], 40);
  const auto scratch = second();
  EXPECT_EQ(scratch.tensor.data(), arena_.at(0));
  allocator_->release(x.id);
  allocator_->release(scratch.id);
  allocator_->end();
  EXPECT_TRUE(cursor_.is_at_end());
  EXPECT_EQ(device_->ledger().live().total, 0);
  EXPECT_EQ(device_->ledger().peak().total, 48);
  begin();
  const auto again = first();
  EXPECT_EQ(again.tensor.data(), arena_.at(128));
  allocator_->release(again.id);
}

TEST_F(PlannedAllocatorTest, OtherThanTraced_IsRefusedNamingBoth) {
  expect_refusal([&] { allocator_->acquire({11}, DType::F32, MemoryTag::Activations, "wider"); }, "[wider]");
  expect_refusal([&] { allocator_->acquire({10}, DType::F32, MemoryTag::Workspace, "x"); }, "40 bytes of activations");
}

TEST_F(PlannedAllocatorTest, MoreThanTraced_IsRefused) {
  const auto x = first();
  const auto scratch = second();
  allocator_->release(x.id);
  allocator_->release(scratch.id);
  expect_refusal([&] { allocator_->acquire({1}, DType::F32, MemoryTag::Activations, "z"); }, "more memory");
}

TEST_F(PlannedAllocatorTest, GivenBackTooEarly_IsRefusedAtTheNextAcquisition) {
  allocator_->release(first().id);
  expect_refusal([&] { second(); }, "[x] its memory was given back earlier or later");
}

TEST_F(PlannedAllocatorTest, GivenBackTooLate_IsRefusedAtTheEnd) {
  const auto x = first();
  const auto scratch = second();
  allocator_->release(scratch.id);
  allocator_->release(x.id);
  expect_refusal([&] { allocator_->end(); }, "[scratch] its memory was given back earlier or later");
}

TEST_F(PlannedAllocatorTest, HeldLongerThanTraced_IsRefusedBeforeItsBytesAreHandedOut) {
  // The second lease takes the first one's bytes.
  plan_.leases[1].offset = 128;
  plan_.steps = {{TraceKind::Acquire, 0}, {TraceKind::Release, 0}, {TraceKind::Acquire, 1}, {TraceKind::Release, 1}};
  begin();
  const auto x = first();
  expect_refusal([&] { second(); }, "[scratch] this pass acquires lease 1 before");
  allocator_->release(x.id);
}

TEST_F(PlannedAllocatorTest, HeldAtTheEnd_IsRefusedByName) {
  const auto x = first();
  expect_refusal([&] { allocator_->end(); }, "[x] its memory is still held at the end of the pass");
  allocator_->release(x.id);
}

TEST_F(PlannedAllocatorTest, WhatAPassThatWasGivenUpHeld_GoesBackToNoEffect) {
  const auto x = first();
  allocator_->drop_leases();
  EXPECT_EQ(device_->ledger().live().total, 0);
  begin();
  const auto again = first();
  allocator_->release(x.id);
  EXPECT_EQ(device_->ledger().live()[MemoryTag::Activations], 40);
  allocator_->release(again.id);
  EXPECT_EQ(device_->ledger().live().total, 0);
}

TEST_F(PlannedAllocatorTest, ALeaseMayOutliveTheOwner) {
  TensorAllocator& lingering = *allocator_;
  const auto x = first();
  allocator_.reset();
  EXPECT_EQ(device_->ledger().live().total, 0);
  lingering.release(x.id);  // the last one: the allocator goes too
}

}  // namespace
}  // namespace shoal::test
