#include "shoal/runtime/fsdp/flat_layout.h"

#include <gtest/gtest.h>

#include <numeric>

#include "shoal/runtime/base/error.h"

namespace shoal::test {
namespace {

using fsdp::FlatLayout;
using fsdp::kFlatAlignment;
using fsdp::ParameterSpec;
using fsdp::SegmentPart;

FlatLayout layout_of(const std::vector<Shape>& shapes, int world_size) {
  std::vector<ParameterSpec> parameters;
  std::vector<int> members;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    parameters.push_back({.name = "p" + std::to_string(i), .shape = shapes[i]});
    members.push_back(static_cast<int>(i));
  }
  return fsdp::make_flat_layout(parameters, members, world_size);
}

/// Every element of every parameter lies in exactly one shard, where its segment says it does.
void expect_partition(const FlatLayout& layout) {
  ASSERT_EQ(layout.shard_numel % kFlatAlignment, 0);
  std::int64_t end = 0;
  std::vector<std::vector<int>> owners;
  for (const fsdp::Segment& segment : layout.segments) {
    ASSERT_EQ(segment.offset % kFlatAlignment, 0);
    ASSERT_GE(segment.offset, end);
    ASSERT_LT(segment.offset - end, kFlatAlignment);
    end = segment.offset + segment.numel();
    owners.emplace_back(static_cast<std::size_t>(segment.numel()), 0);
  }
  // No shard is larger than alignment demands.
  const std::int64_t granule = kFlatAlignment * layout.world_size;
  ASSERT_GE(layout.full_numel(), end);
  ASSERT_LT(layout.full_numel() - end, granule);
  for (int rank = 0; rank < layout.world_size; ++rank) {
    const std::int64_t begin = rank * layout.shard_numel;
    std::int64_t at = begin;
    for (const SegmentPart& part : layout.parts_in(begin, layout.shard_numel)) {
      const fsdp::Segment& segment = layout.segments[static_cast<std::size_t>(part.segment)];
      ASSERT_GT(part.numel, 0);
      ASSERT_GE(part.flat_begin, at);
      ASSERT_EQ(part.flat_begin, segment.offset + part.element_begin);
      at = part.flat_begin + part.numel;
      for (std::int64_t i = 0; i < part.numel; ++i) {
        ++owners[static_cast<std::size_t>(part.segment)].at(static_cast<std::size_t>(part.element_begin + i));
      }
    }
    ASSERT_LE(at, begin + layout.shard_numel);
  }
  for (const std::vector<int>& counts : owners) {
    for (const int count : counts) ASSERT_EQ(count, 1);
  }
}

TEST(FlatLayout, SmallSizes_EveryElementIsOwnedOnce) {
  const std::vector<std::int64_t> sizes = {0, 1, 2, 63, 64, 65, 127, 128, 129, 200};
  for (int world_size = 1; world_size <= 8; ++world_size) {
    for (const std::int64_t a : sizes) {
      expect_partition(layout_of({{a}}, world_size));
      for (const std::int64_t b : sizes) {
        expect_partition(layout_of({{a}, {b}}, world_size));
        for (const std::int64_t c : sizes) expect_partition(layout_of({{a}, {b}, {c}}, world_size));
      }
    }
    if (HasFatalFailure()) return;
  }
}

TEST(FlatLayout, AnyRange_HoldsExactlyItsElements) {
  const FlatLayout layout = layout_of({{5}, {}, {0}, {3, 50}, {64}}, 2);
  for (std::int64_t begin = 0; begin < layout.full_numel(); ++begin) {
    for (const std::int64_t numel : {0, 1, 7, 64, 130}) {
      std::int64_t expected = 0;
      for (const fsdp::Segment& segment : layout.segments) {
        for (std::int64_t i = 0; i < segment.numel(); ++i) {
          expected += segment.offset + i >= begin && segment.offset + i < begin + numel ? 1 : 0;
        }
      }
      const std::vector<SegmentPart> parts = layout.parts_in(begin, numel);
      const std::int64_t found = std::accumulate(parts.begin(), parts.end(), std::int64_t{0},
                                                 [](std::int64_t sum, const SegmentPart& p) { return sum + p.numel; });
      ASSERT_EQ(found, expected) << begin << " +" << numel;
    }
  }
}

TEST(FlatLayout, Scalars_TakeAnAlignedPlaceEach) {
  const FlatLayout layout = layout_of({{}, {}, {}}, 4);
  EXPECT_EQ(layout.segments[1].numel(), 1);
  EXPECT_EQ(layout.segments[2].offset, 128);
  EXPECT_EQ(layout.shard_numel, 64);  // 129 elements over 4 ranks
  expect_partition(layout);
}

TEST(FlatLayout, MoreRanksThanElements_LeavesShardsWithoutParts) {
  const FlatLayout layout = layout_of({{3}}, 8);
  EXPECT_EQ(layout.shard_numel, 64);
  EXPECT_EQ(layout.parts_in(0, 64).size(), 1U);
  for (int rank = 1; rank < 8; ++rank) EXPECT_TRUE(layout.parts_in(rank * 64, 64).empty());
}

TEST(FlatLayout, NothingAtAll_HasNoElements) {
  EXPECT_EQ(layout_of({}, 3).full_numel(), 0);
  EXPECT_EQ(layout_of({{0}, {4, 0}}, 3).full_numel(), 0);
}

TEST(FlatLayout, Offsets_DoNotDependOnTheWorld) {
  const FlatLayout one = layout_of({{100}, {7, 3}, {}, {640}}, 1);
  for (int world_size = 2; world_size <= 64; ++world_size) {
    const FlatLayout many = layout_of({{100}, {7, 3}, {}, {640}}, world_size);
    for (std::size_t i = 0; i < one.segments.size(); ++i) EXPECT_EQ(many.segments[i].offset, one.segments[i].offset);
  }
}

TEST(FlatLayout, Members_KeepTheirOrderAndIndex) {
  const std::vector<ParameterSpec> parameters = {
      {.name = "a", .shape = {2}}, {.name = "b", .shape = {3}, .decays = false}, {.name = "c", .shape = {4}}};
  const FlatLayout layout = fsdp::make_flat_layout(parameters, std::vector<int>{2, 1}, 2);
  ASSERT_EQ(layout.segments.size(), 2U);
  EXPECT_EQ(layout.segments[0].name, "c");
  EXPECT_EQ(layout.segments[0].parameter, 2);
  EXPECT_TRUE(layout.segments[0].decays);
  EXPECT_EQ(layout.segments[1].parameter, 1);
  EXPECT_FALSE(layout.segments[1].decays);
}

TEST(FlatLayout, WorldWithoutRanks_IsRefused) {
  EXPECT_THROW(layout_of({{3}}, 0), Error);
  EXPECT_THROW(layout_of({{3}}, -2), Error);
}

}  // namespace
}  // namespace shoal::test
