#include "shoal/runtime/fsdp/placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "shoal/runtime/base/int_math.h"
#include "shoal/runtime/fsdp/enqueue_order.h"
#include "shoal/tests/support/plan_cases.h"

namespace shoal::test {
namespace {

using fsdp::kLeaseAlignment;
using fsdp::Placement;
using fsdp::TimedBlock;

void expect_sound(const std::vector<TimedBlock>& blocks, const Placement& placement) {
  ASSERT_EQ(placement.offsets.size(), blocks.size());
  std::int64_t end = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    ASSERT_EQ(placement.offsets[i] % kLeaseAlignment, 0);
    ASSERT_GE(placement.offsets[i], 0);
    end = std::max(end, placement.offsets[i] + round_up(blocks[i].bytes, kLeaseAlignment));
    for (std::size_t j = 0; j < i; ++j) {
      if (blocks[i].begin > blocks[j].end || blocks[j].begin > blocks[i].end) continue;
      const bool shares = placement.offsets[i] < placement.offsets[j] + blocks[j].bytes &&
                          placement.offsets[j] < placement.offsets[i] + blocks[i].bytes;
      ASSERT_FALSE(shares && blocks[i].bytes > 0 && blocks[j].bytes > 0) << i << " and " << j;
    }
  }
  ASSERT_EQ(placement.arena_bytes, end);
  ASSERT_GE(placement.arena_bytes, fsdp::peak_block_bytes(blocks));
}

std::vector<TimedBlock> random_blocks(std::uint32_t seed, std::size_t count) {
  std::mt19937 random(seed);
  std::vector<TimedBlock> blocks;
  for (std::size_t i = 0; i < count; ++i) {
    const int begin = static_cast<int>(random() % 200);
    const int end = begin + static_cast<int>(random() % (i % 3 == 0 ? 100 : 8));
    blocks.push_back({static_cast<std::int64_t>(random() % 5000), begin, end});
  }
  return blocks;
}

TEST(Placement, RandomBlocks_NeverOverlap) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const std::vector<TimedBlock> blocks = random_blocks(seed, seed * 4);
    expect_sound(blocks, fsdp::place_blocks(blocks));
    if (HasFatalFailure()) return;
  }
}

TEST(Placement, RandomBlocks_TakeLittleMoreThanTheyMust) {
  double worst = 1;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const std::vector<TimedBlock> blocks = random_blocks(seed, 150);
    const double ratio = static_cast<double>(fsdp::place_blocks(blocks).arena_bytes) /
                         static_cast<double>(fsdp::peak_block_bytes(blocks));
    worst = std::max(worst, ratio);
  }
  EXPECT_LE(worst, 1.1);
}

TEST(Placement, SameBlocks_GetTheSamePlaces) {
  const std::vector<TimedBlock> blocks = random_blocks(7, 200);
  EXPECT_EQ(fsdp::place_blocks(blocks).offsets, fsdp::place_blocks(blocks).offsets);
}

TEST(Placement, NestedLifetimes_AreStackedWithoutWaste) {
  std::vector<TimedBlock> blocks;
  for (int i = 0; i < 50; ++i) blocks.push_back({64 * (1 + i % 7), i, 200 - i});
  EXPECT_EQ(fsdp::place_blocks(blocks).arena_bytes, fsdp::peak_block_bytes(blocks));
}

TEST(Placement, EmptyBlocks_TakeNothing) {
  EXPECT_EQ(fsdp::place_blocks({}).arena_bytes, 0);
  const std::vector<TimedBlock> blocks = {{0, 0, 5}, {0, 0, 5}};
  EXPECT_EQ(fsdp::place_blocks(blocks).arena_bytes, 0);
  EXPECT_EQ(fsdp::place_blocks(blocks).offsets, (std::vector<std::int64_t>{0, 0}));
}

TEST(Placement, BlocksThatMeetInOneMoment_DoNotShareBytes) {
  const std::vector<TimedBlock> meeting = {{64, 0, 3}, {64, 3, 5}};
  EXPECT_EQ(fsdp::place_blocks(meeting).arena_bytes, 128);
  const std::vector<TimedBlock> apart = {{64, 0, 3}, {64, 4, 5}};
  EXPECT_EQ(fsdp::place_blocks(apart).arena_bytes, 64);
}

TEST(Placement, Peak_RoundsEachBlockUp) {
  EXPECT_EQ(fsdp::peak_block_bytes(std::vector<TimedBlock>{{1, 0, 1}, {65, 1, 2}}), 192);
  EXPECT_EQ(fsdp::peak_block_bytes(std::vector<TimedBlock>{{1, 0, 1}, {65, 2, 2}}), 128);
}

TEST(Placement, PlansOfModels_WasteAtMostThreePercent) {
  for (const auto& planned : make_plan_cases()) {
    for (const fsdp::Plan* plan : {&planned->train, &planned->evaluate}) {
      const fsdp::EnqueueOrder order = fsdp::enqueue_order(*plan, planned->trace_of(*plan));
      std::vector<TimedBlock> blocks;
      for (std::size_t i = 0; i < plan->leases.size(); ++i) {
        const int lease = static_cast<int>(i);
        blocks.push_back({plan->leases[i].bytes, order.begin_of(*plan, lease), order.end_of(*plan, lease)});
      }
      EXPECT_LE(static_cast<double>(plan->arena_bytes), 1.03 * static_cast<double>(fsdp::peak_block_bytes(blocks)))
          << planned->name;
    }
  }
}

}  // namespace
}  // namespace shoal::test
