#include "shoal/runtime/fsdp/flat_storage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "shoal/optim/adamw.h"
#include "shoal/runtime/device/runtime.h"

namespace shoal::test {
namespace {

using fsdp::FlatStorage;

/// Two matrices that decay, between them a bias that does not, over two ranks.
fsdp::FlatParameter make_flat(int world_size, bool is_trainable = true) {
  const std::vector<fsdp::ParameterSpec> parameters = {
      {"a", {10, 10}, true, is_trainable}, {"b", {3}, false, is_trainable}, {"c", {7, 9}, true, is_trainable}};
  const std::vector<int> members = {0, 1, 2};
  return {.unit = 0, .is_trainable = is_trainable, .layout = make_flat_layout(parameters, members, world_size)};
}

class FlatStorageTest : public testing::Test {
 protected:
  std::unique_ptr<Device> device_ = Runtime().open_device(DeviceKind::Host);
  std::unique_ptr<Stream> stream_ = device_->make_stream(StreamRole::Compute, "compute");
};

TEST_F(FlatStorageTest, Shards_TogetherHoldEveryElementOnce) {
  const fsdp::FlatParameter flat = make_flat(2);
  std::map<int, std::vector<int>> owners;
  for (int rank = 0; rank < 2; ++rank) {
    const FlatStorage storage(*device_, *stream_, flat,
                              {.rank = rank, .is_sharded = true, .num_state_tensors = 2, .padding = {}});
    EXPECT_EQ(storage.numel(), flat.layout.shard_numel);
    EXPECT_EQ(storage.first_element(), rank * flat.layout.shard_numel);
    EXPECT_EQ(storage.state().size(), 2U);
    storage.materialise([&](int parameter, std::int64_t first, const Tensor& values) {
      owners[parameter].resize(100);
      for (std::int64_t i = 0; i < values.numel(); ++i) ++owners[parameter][static_cast<std::size_t>(first + i)];
    });
  }
  for (const auto& [parameter, numel] : {std::pair{0, 100}, std::pair{1, 3}, std::pair{2, 63}}) {
    for (int i = 0; i < 100; ++i) EXPECT_EQ(owners[parameter][static_cast<std::size_t>(i)], i < numel ? 1 : 0);
  }
}

TEST_F(FlatStorageTest, Padding_IsFilledAndStateIsZeroWhereParametersAre) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const fsdp::FlatParameter flat = make_flat(2);
  const FlatStorage storage(*device_, *stream_, flat,
                            {.rank = 0, .is_sharded = true, .num_state_tensors = 1, .padding = nan});
  stream_->synchronize();
  std::vector<bool> is_parameter(static_cast<std::size_t>(storage.numel()));
  for (const fsdp::SegmentPart& part : storage.parts()) {
    for (std::int64_t i = 0; i < part.numel; ++i) is_parameter[static_cast<std::size_t>(part.flat_begin + i)] = true;
  }
  for (std::int64_t i = 0; i < storage.numel(); ++i) {
    const float value = storage.state()[0].as<float>()[i];
    if (is_parameter[static_cast<std::size_t>(i)]) {
      EXPECT_EQ(value, 0.0F);
    } else {
      EXPECT_TRUE(std::isnan(value));
    }
  }
}

TEST_F(FlatStorageTest, FrozenParameters_HaveNeitherGradientNorState) {
  const fsdp::FlatParameter flat = make_flat(2, false);
  const FlatStorage storage(*device_, *stream_, flat,
                            {.rank = 1, .is_sharded = true, .num_state_tensors = 2, .padding = {}});
  EXPECT_FALSE(storage.gradients().is_defined());
  EXPECT_TRUE(storage.state().empty());
  EXPECT_EQ(device_->ledger().live().total, storage.numel() * 4);
  EXPECT_TRUE(storage.update_slices(*optim::make_adamw()).empty());
}

TEST_F(FlatStorageTest, UpdateSlices_JoinNeighboursThatTheRuleTreatsAlike) {
  const fsdp::FlatParameter flat = make_flat(1);
  const FlatStorage storage(*device_, *stream_, flat,
                            {.rank = 0, .is_sharded = false, .num_state_tensors = 2, .padding = {}});
  const auto slices = storage.update_slices(*optim::make_adamw());
  ASSERT_EQ(slices.size(), 3U);  // a decays, b does not, c does
  EXPECT_EQ(slices[0].parameter.name, "a");
  EXPECT_EQ(slices[0].numel, 100);
  EXPECT_EQ(slices[1].begin, 128);
  EXPECT_EQ(slices[1].numel, 3);
  EXPECT_EQ(slices[2].begin, 192);
  EXPECT_EQ(slices[2].numel, 63);

  const std::vector<fsdp::ParameterSpec> parameters = {
      {"a", {10, 10}, true}, {"b", {7, 9}, true}, {"c", {3}, false}, {"d", {5}, false}};
  const fsdp::FlatParameter alike{
      .unit = 0, .is_trainable = true, .layout = make_flat_layout(parameters, std::vector<int>{0, 1, 2, 3}, 1)};
  const FlatStorage joined(*device_, *stream_, alike,
                           {.rank = 0, .is_sharded = false, .num_state_tensors = 2, .padding = {}});
  const auto two = joined.update_slices(*optim::make_adamw());
  ASSERT_EQ(two.size(), 2U);  // a with b, c with d, each with the padding between them
  EXPECT_EQ(two[0].parameter.name, "a");
  EXPECT_EQ(two[0].begin, 0);
  EXPECT_EQ(two[0].numel, 128 + 63);
  EXPECT_EQ(two[1].parameter.name, "c");
  EXPECT_EQ(two[1].begin, 192);
  EXPECT_EQ(two[1].numel, 64 + 5);
}

}  // namespace
}  // namespace shoal::test
