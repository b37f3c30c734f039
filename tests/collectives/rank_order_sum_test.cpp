#include "shoal/collectives/rank_order_sum.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "shoal/runtime/base/counter_rng.h"
#include "shoal/runtime/base/error.h"

namespace shoal::collectives {
namespace {

std::vector<std::vector<float>> random_sources(int count, std::int64_t numel) {
  std::vector<std::vector<float>> sources(static_cast<std::size_t>(count));
  for (int source = 0; source < count; ++source) {
    for (std::int64_t i = 0; i < numel; ++i) {
      sources[static_cast<std::size_t>(source)].push_back(
          counter_normal(1, static_cast<std::uint64_t>(source), static_cast<std::uint64_t>(i)));
    }
  }
  return sources;
}

std::vector<const void*> pointers(const std::vector<std::vector<float>>& sources) {
  std::vector<const void*> result;
  for (const auto& source : sources) result.push_back(source.data());
  return result;
}

std::vector<float> left_fold(const std::vector<std::vector<float>>& sources, std::vector<float> start,
                             bool from_start) {
  for (std::size_t i = 0; i < start.size(); ++i) {
    float sum = from_start ? start[i] : sources[0][i];
    for (std::size_t source = from_start ? 0 : 1; source < sources.size(); ++source) sum += sources[source][i];
    start[i] = sum;
  }
  return start;
}

TEST(RankOrderSum, AnyCountSizeAndCut_IsTheLeftFold) {
  for (const int count : {1, 2, 3, 4, 5, 8}) {
    for (const std::int64_t numel : {0, 1, 15, 16, 17, 4096, 4097, 9000}) {
      const auto sources = random_sources(count, numel);
      const auto in = pointers(sources);
      const std::vector<float> before(static_cast<std::size_t>(numel), 0.7F);
      for (const Fold fold : {Fold::Replace, Fold::Into}) {
        std::vector<float> out = before;
        const RankOrderSum sum{in, out.data(), DType::F32, fold};
        sum.run(0, numel / 3);
        sum.run(numel / 3, numel);
        EXPECT_EQ(out, left_fold(sources, before, fold == Fold::Into)) << count << " sources, " << numel << " elements";
      }
    }
  }
}

TEST(RankOrderSum, OutputIsOneOfTheSources_NoneIsReadAfterItIsOverwritten) {
  for (const int count : {1, 2, 3, 5}) {
    for (int own = 0; own < count; ++own) {
      auto sources = random_sources(count, 5000);
      const std::vector<float> expected = left_fold(sources, sources[0], false);
      const auto in = pointers(sources);
      float* out = sources[static_cast<std::size_t>(own)].data();
      RankOrderSum{in, out, DType::F32, Fold::Replace}.run(0, 5000);
      EXPECT_EQ(sources[static_cast<std::size_t>(own)], expected) << own << " of " << count;
    }
  }
}

TEST(RankOrderSum, Integers_WrapAround) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t one = 1;
  std::int64_t out = 0;
  const void* const sources[] = {&most, &one};
  RankOrderSum{sources, &out, DType::I64, Fold::Replace}.run(0, 1);
  EXPECT_EQ(out, std::numeric_limits<std::int64_t>::min());
}

TEST(RankOrderSum, DoublesKeepTheirPrecision) {
  const double a = 1.0;
  const double b = 0x1p-50;
  double out = 0;
  const void* const sources[] = {&a, &b};
  RankOrderSum{sources, &out, DType::F64, Fold::Replace}.run(0, 1);
  EXPECT_EQ(out, 1.0 + 0x1p-50);
}

TEST(RankOrderSum, OtherDTypes_AreRefused) {
  for (const DType dtype : {DType::BF16, DType::F16, DType::I32, DType::U8}) {
    EXPECT_FALSE(is_summable(dtype));
    std::uint8_t value[8] = {};
    std::uint8_t out[8] = {};
    const void* const source = value;
    EXPECT_THROW((RankOrderSum{{&source, 1}, out, dtype, Fold::Replace}.run(0, 1)), Error);
  }
}

}  // namespace
}  // namespace shoal::collectives
