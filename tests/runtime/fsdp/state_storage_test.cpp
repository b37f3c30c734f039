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
  const std::vector<int> staged = {0, 1, 2};
  const fsdp::StateStorage storage(*device, *stream, {&mean, &variance, &other}, staged);
  EXPECT_EQ(device->ledger().live()[MemoryTag::Buffers], fsdp::StateStorage::persistent_bytes(10, 10));
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

TEST(StateStorage, OnlyWhatIsUpdated_IsHeldTwiceAndMoves) {
  const auto device = Runtime().open_device(DeviceKind::Host);
  const auto stream = device->make_stream(StreamRole::Compute, "compute");
  nn::StateBuffer table{.name = "table", .shape = {3}, .initial = 7, .momentum = 0.5F, .index = 0};
  nn::StateBuffer mean{.name = "bn.mean", .shape = {2}, .initial = 0, .momentum = 0.5F, .index = 1};
  nn::StateBuffer frozen{.name = "frozen", .shape = {4}, .initial = 1, .momentum = 0.5F, .index = 2};
  nn::StateBuffer variance{.name = "bn.var", .shape = {2}, .initial = 1, .momentum = 0.5F, .index = 3};
  const std::vector<int> staged = {1, 3};
  const fsdp::StateStorage storage(*device, *stream, {&table, &mean, &frozen, &variance}, staged);
  EXPECT_EQ(device->ledger().live()[MemoryTag::Buffers], fsdp::StateStorage::persistent_bytes(11, 4));
  EXPECT_EQ(storage.all_staged().numel(), 4);
  EXPECT_FALSE(storage.staged(0).is_defined());
  EXPECT_FALSE(storage.staged(2).is_defined());
  kernels::fill(*stream, storage.all_staged(), 4.0F);
  storage.update(*stream, 2);
  stream->synchronize();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(storage.running(0).as<float>()[i], 7.0F);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(storage.running(1).as<float>()[i], 1.0F);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(storage.running(2).as<float>()[i], 1.0F);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(storage.running(3).as<float>()[i], 1.5F);
}

TEST(StateStorage, WithoutBuffers_HoldsNothing) {
  const auto device = Runtime().open_device(DeviceKind::Host);
  const auto stream = device->make_stream(StreamRole::Compute, "compute");
  const fsdp::StateStorage storage(*device, *stream, {}, {});
  EXPECT_EQ(storage.all_staged().numel(), 0);
  EXPECT_EQ(device->ledger().live().total, 0);
  storage.update(*stream, 2);
  stream->synchronize();
}

}  // namespace
}  // namespace shoal::test
