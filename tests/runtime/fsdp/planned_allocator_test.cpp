#include "shoal/runtime/fsdp/planned_allocator.h"

#include <gtest/gtest.h>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/runtime.h"

namespace shoal::test {
namespace {

class PlannedAllocatorTest : public testing::Test {
 protected:
  PlannedAllocatorTest() {
    plan_.leases = {{.tag = MemoryTag::Activations, .bytes = 40, .offset = 128},
                    {.tag = MemoryTag::Workspace, .bytes = 8, .offset = 0}};
    plan_.num_activation_leases = 2;
    allocator_.begin(plan_);
  }

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
  fsdp::PlannedAllocator allocator_{*device_, arena_};
};

TEST_F(PlannedAllocatorTest, TheNthAcquisitionGetsTheNthPlace_AndIsCounted) {
  const auto first = allocator_.acquire({10}, DType::F32, MemoryTag::Activations, "x");
  EXPECT_EQ(first.tensor.data(), arena_.at(128));
  EXPECT_EQ(device_->ledger().live()[MemoryTag::Activations], 40);
  const auto second = allocator_.acquire({1}, DType::F64, MemoryTag::Workspace, "scratch");
  EXPECT_EQ(second.tensor.data(), arena_.at(0));
  allocator_.release(first.id);
  allocator_.release(second.id);
  EXPECT_EQ(device_->ledger().live().total, 0);
  EXPECT_EQ(device_->ledger().peak().total, 48);
  allocator_.begin(plan_);
  EXPECT_EQ(allocator_.acquire({10}, DType::F32, MemoryTag::Activations, "x").tensor.data(), arena_.at(128));
  allocator_.release(0);
}

TEST_F(PlannedAllocatorTest, OtherThanTraced_IsRefusedNamingBoth) {
  expect_refusal([&] { allocator_.acquire({11}, DType::F32, MemoryTag::Activations, "wider"); }, "[wider]");
  expect_refusal([&] { allocator_.acquire({10}, DType::F32, MemoryTag::Workspace, "x"); }, "40 bytes of activations");
}

TEST_F(PlannedAllocatorTest, MoreThanTraced_IsRefused) {
  allocator_.release(allocator_.acquire({10}, DType::F32, MemoryTag::Activations, "x").id);
  allocator_.release(allocator_.acquire({2}, DType::F32, MemoryTag::Workspace, "y").id);
  expect_refusal([&] { allocator_.acquire({1}, DType::F32, MemoryTag::Activations, "z"); }, "more memory");
}

}  // namespace
}  // namespace shoal::test
