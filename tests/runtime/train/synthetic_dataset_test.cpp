#include "shoal/runtime/train/synthetic_dataset.h"

#include <algorithm>

#include "shoal/tests/runtime/train/expect_error.h"

namespace shoal::train {
namespace {

using test::expect_error;

std::vector<std::int32_t> ids_of(const SyntheticDataset& data, Split split, std::int64_t index) {
  std::vector<std::int32_t> inputs(64);
  std::vector<std::int32_t> targets(64);
  const std::vector<SampleRef> samples = {{index}};
  data.fill_batch(split, samples, Tensor(inputs.data(), {1, 64}, DType::I32),
                  Tensor(targets.data(), {1, 64}, DType::I32));
  inputs.insert(inputs.end(), targets.begin(), targets.end());
  return inputs;
}

const SampleSpec kTokens{{64}, DType::I32, {64}, DType::I32, 10};

TEST(SyntheticDataset, SamplesDependOnSeedSplitAndIndexOnly) {
  const SyntheticDataset data(kTokens, {.seed = 1});
  const SyntheticDataset same(kTokens, {.seed = 1});
  const SyntheticDataset other(kTokens, {.seed = 2});
  EXPECT_EQ(ids_of(data, Split::Train, 5), ids_of(same, Split::Train, 5));
  EXPECT_NE(ids_of(data, Split::Train, 5), ids_of(data, Split::Train, 6));
  EXPECT_NE(ids_of(data, Split::Train, 5), ids_of(data, Split::Test, 5));
  EXPECT_NE(ids_of(data, Split::Train, 5), ids_of(other, Split::Train, 5));
}

TEST(SyntheticDataset, IdsAreBelowTheNumberOfClasses) {
  const SyntheticDataset data(kTokens, {});
  const std::vector<std::int32_t> ids = ids_of(data, Split::Train, 0);
  EXPECT_TRUE(std::all_of(ids.begin(), ids.end(), [](std::int32_t id) { return id >= 0 && id < 10; }));
  EXPECT_NE(*std::min_element(ids.begin(), ids.end()), *std::max_element(ids.begin(), ids.end()));
}

TEST(SyntheticDataset, VectorsHaveVectorTargets) {
  const SyntheticDataset data({{3}, DType::F32, {3}, DType::F32, 0}, {});
  std::vector<float> inputs(3);
  std::vector<float> targets(3);
  const std::vector<SampleRef> samples = {{0}};
  data.fill_batch(Split::Train, samples, Tensor(inputs.data(), {1, 3}, DType::F32),
                  Tensor(targets.data(), {1, 3}, DType::F32));
  EXPECT_NE(inputs, targets);
  EXPECT_EQ(data.item_name(), "rows");
}

TEST(SyntheticDataset, WithoutSamplesOrClasses_IsRefused) {
  expect_error(ErrorCode::InvalidArgument, {"0 training samples"},
               [] { SyntheticDataset(kTokens, {.train_size = 0}); });
  expect_error(ErrorCode::InvalidArgument, {"0 classes"}, [] {
    SyntheticDataset({{4}, DType::F32, {}, DType::I32, 0}, {});
  });
}

}  // namespace
}  // namespace shoal::train
