#include "shoal/runtime/train/sampler.h"

#include <algorithm>
#include <numeric>

#include "shoal/runtime/train/synthetic_dataset.h"
#include "shoal/runtime/train/text_dataset.h"
#include "shoal/tests/runtime/train/expect_error.h"

namespace shoal::train {
namespace {

using test::expect_error;

const SampleSpec kClasses{{3}, DType::F32, {}, DType::I32, 10};

// A global batch as `world` ranks see it, one slice after the other.
std::vector<SampleRef> by_ranks(const Sampler& sampler, std::int64_t batch, std::int64_t size, int world) {
  std::vector<SampleRef> all;
  const std::int64_t slice = size / world;
  for (int rank = 0; rank < world; ++rank) {
    std::vector<SampleRef> samples(static_cast<std::size_t>(slice));
    sampler.train_batch(batch, rank * slice, samples);
    all.insert(all.end(), samples.begin(), samples.end());
  }
  return all;
}

TEST(Sampler, Batches_DoNotDependOnTheWorldSize) {
  const SyntheticDataset images(kClasses, {.train_size = 100});
  const TextDataset text("text", std::vector<std::uint8_t>(1000), 8);
  for (const Dataset* data : std::initializer_list<const Dataset*>{&images, &text}) {
    const Sampler sampler(*data, 5, 24);
    for (std::int64_t batch = 0; batch < 9; ++batch) {
      const auto alone = by_ranks(sampler, batch, 24, 1);
      for (const int world : {2, 3, 4, 8, 24}) EXPECT_EQ(by_ranks(sampler, batch, 24, world), alone) << world;
    }
  }
}

TEST(Sampler, Epoch_VisitsNoSampleTwice) {
  const SyntheticDataset data(kClasses, {.train_size = 100});
  const Sampler sampler(data, 5, 24);
  ASSERT_EQ(sampler.steps_per_epoch(), 4);
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> second;
  for (std::int64_t batch = 0; batch < 8; ++batch) {
    for (const SampleRef& sample : by_ranks(sampler, batch, 24, 1)) {
      (batch < 4 ? first : second).push_back(sample.index);
    }
  }
  EXPECT_NE(first, second) << "the second epoch is in the order of the first";
  for (std::vector<std::int64_t>* epoch : {&first, &second}) {
    std::sort(epoch->begin(), epoch->end());
    EXPECT_EQ(std::unique(epoch->begin(), epoch->end()), epoch->end());
    EXPECT_GE(epoch->front(), 0);
    EXPECT_LT(epoch->back(), 100);
  }
}

TEST(Sampler, Order_DependsOnTheSeed) {
  const SyntheticDataset data(kClasses, {.train_size = 100});
  EXPECT_EQ(by_ranks(Sampler(data, 5, 24), 0, 24, 1), by_ranks(Sampler(data, 5, 24), 0, 24, 1));
  EXPECT_NE(by_ranks(Sampler(data, 5, 24), 0, 24, 1), by_ranks(Sampler(data, 6, 24), 0, 24, 1));
}

TEST(Sampler, TextWindows_LieWithinTheTrainingPart) {
  const TextDataset data("text", std::vector<std::uint8_t>(1000), 8);
  const Sampler sampler(data, 1, 64);
  EXPECT_EQ(sampler.steps_per_epoch(), 900 / 8 / 64);
  std::vector<std::int64_t> offsets;
  for (std::int64_t batch = 0; batch < 100; ++batch) {
    for (const SampleRef& sample : by_ranks(sampler, batch, 64, 1)) offsets.push_back(sample.index);
  }
  EXPECT_GE(*std::min_element(offsets.begin(), offsets.end()), 0);
  EXPECT_LT(*std::max_element(offsets.begin(), offsets.end()), data.size(Split::Train));
  std::sort(offsets.begin(), offsets.end());
  const auto num_distinct = std::unique(offsets.begin(), offsets.end()) - offsets.begin();
  // 6400 draws among 892 offsets miss hardly any.
  EXPECT_GT(num_distinct, 850);
}

TEST(Sampler, TestBatches_CoverTheSplitOnceAndPadTheLast) {
  const SyntheticDataset data(kClasses, {.test_size = 10});
  const Sampler sampler(data, 5, 4);
  ASSERT_EQ(sampler.num_test_batches(), 3);
  std::vector<std::int64_t> indices;
  for (std::int64_t batch = 0; batch < 3; ++batch) {
    for (int rank = 0; rank < 2; ++rank) {
      std::vector<SampleRef> samples(2);
      sampler.test_batch(batch, rank * 2, samples);
      for (const SampleRef& sample : samples) indices.push_back(sample.index);
    }
  }
  std::vector<std::int64_t> expected(10);
  std::iota(expected.begin(), expected.end(), 0);
  expected.insert(expected.end(), 2, SampleRef::kPadding);
  EXPECT_EQ(indices, expected);
}

TEST(Sampler, VectorTargets_CannotBePaddedSoTheRestIsLeftOut) {
  const SyntheticDataset data({{3}, DType::F32, {3}, DType::F32, 0}, {.test_size = 10});
  EXPECT_EQ(Sampler(data, 5, 4).num_test_batches(), 2);
  EXPECT_EQ(Sampler(data, 5, 16).num_test_batches(), 0);
}

TEST(Sampler, BatchBeyondAnEpoch_NamesTheLargestThatWorks) {
  const SyntheticDataset data(kClasses, {.train_size = 100});
  expect_error(ErrorCode::InvalidArgument, {"batch of 101", "1 to 100"}, [&] { Sampler(data, 5, 101); });
  expect_error(ErrorCode::InvalidArgument, {"batch of 0"}, [&] { Sampler(data, 5, 0); });
  EXPECT_EQ(Sampler(data, 5, 100).steps_per_epoch(), 1);
}

}  // namespace
}  // namespace shoal::train
