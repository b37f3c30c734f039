#include "shoal/runtime/fsdp/state_storage.h"

#include <gtest/gtest.h>

#include "shoal/kernels/fill.h"
#include "shoal/runtime/device/runtime.h"

namespace shoal::test {
namespace {

TEST(StateStorage, Update_MovesEachBufferByItsMomentum_TowardsTheMeanOverRanks) {
  const auto device = Runtime().open_device(DeviceKind::Host);
  const auto stream = device->make_stream(StreamRole::Compute, "compute");
  nn::StateBuffer mean{.name = "bn.mean", .shape = {3}, .initial = 0, .momentum = 0.5F, .index = 0};
  nn::StateBuffer variance{.name = "bn.var", .shape = {3}, .initial = 1, .momentum = 0.5F, .index = 1};
  nn::StateBuffer other{.name = "other", .shape = {2, 2}, .initial = 4, .momentum = 0.25F, .index = 2};
  const fsdp::StateStorage storage(*device, *stream, {&mean, &variance, &other});
  EXPECT_EQ(device->ledger().live()[MemoryTag::Buffers], fsdp::StateStorage::persistent_bytes(10));
  EXPECT_EQ(storage.all_staged().numel(), 10);
  EXPECT_EQ(storage.running(2).shape(), Shape({2, 2}));
  kernels::fill(*stream, storage.staged(0), 8.0F);   // the sum over two ranks: a mean of 4
  kernels::fill(*stream, storage.staged(1), 6.0F);   // 3
  kernels::fill(*stream, storage.staged(2), 16.0F);  // 8
  storage.update(*stream, 2);
  stream->synchronize();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(storage.running(0).as<float>()[i], 2.0F);
    EXPECT_EQ(storage.running(1).as<float>()[i], 2.0F);
  }
  for (int i = 0; i < 4; ++i) EXPECT_EQ(storage.running(2).as<float>()[i], 5.0F);
}

TEST(StateStorage, WithoutBuffers_HoldsNothing) {
  const auto device = Runtime().open_device(DeviceKind::Host);
  const auto stream = device->make_stream(StreamRole::Compute, "compute");
  const fsdp::StateStorage storage(*device, *stream, {});
  EXPECT_TRUE(storage.is_empty());
  EXPECT_EQ(device->ledger().live().total, 0);
  storage.update(*stream, 2);
  stream->synchronize();
}

}  // namespace
}  // namespace shoal::test
