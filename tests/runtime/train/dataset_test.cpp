#include "shoal/runtime/train/dataset.h"

#include "shoal/runtime/train/synthetic_dataset.h"
#include "shoal/tests/runtime/train/expect_error.h"

namespace shoal::train {
namespace {

using test::expect_error;

const SampleSpec kImages{{2, 2, 1}, DType::F32, {}, DType::I32, 10};

TEST(BatchSpec, PrependsTheBatch) {
  const nn::BatchSpec spec = batch_spec(kImages, 5);
  EXPECT_EQ(spec.inputs, (Shape{5, 2, 2, 1}));
  EXPECT_EQ(spec.targets, (Shape{5}));
  EXPECT_EQ(spec.inputs_dtype, DType::F32);
  EXPECT_EQ(spec.targets_dtype, DType::I32);
}

class FillBatch : public ::testing::Test {
 protected:
  void fill(const std::vector<SampleRef>& samples, const Shape& inputs, const Shape& targets) {
    data_.fill_batch(Split::Train, samples, Tensor(inputs_.data(), inputs, DType::F32),
                     Tensor(targets_.data(), targets, DType::I32));
  }

  SyntheticDataset data_{kImages, {.train_size = 3}};
  std::vector<float> inputs_ = std::vector<float>(8, 7.0f);
  std::vector<std::int32_t> targets_ = std::vector<std::int32_t>(2, 7);
};

TEST_F(FillBatch, Padding_IsZerosThatAreIgnored) {
  fill({{2}, {SampleRef::kPadding}}, {2, 2, 2, 1}, {2});
  EXPECT_GE(targets_[0], 0);
  EXPECT_EQ(targets_[1], -1);
  EXPECT_EQ(std::vector<float>(inputs_.begin() + 4, inputs_.end()), std::vector<float>(4, 0.0f));
}

TEST_F(FillBatch, NoSamples_IsLegal) { fill({}, {0, 2, 2, 1}, {0}); }

TEST_F(FillBatch, OtherShape_IsRefusedWithBoth) {
  expect_error(ErrorCode::InvalidArgument, {"(2, 4)", "(2, 2, 2, 1)"}, [&] { fill({{0}, {1}}, {2, 4}, {2}); });
  expect_error(ErrorCode::InvalidArgument, {"targets"}, [&] { fill({{0}, {1}}, {2, 2, 2, 1}, {1}); });
}

TEST_F(FillBatch, IndexOutsideTheSplit_IsRefused) {
  expect_error(ErrorCode::InvalidArgument, {"sample 3", "has 3"}, [&] { fill({{3}, {0}}, {2, 2, 2, 1}, {2}); });
  expect_error(ErrorCode::InvalidArgument, {"sample -2"}, [&] { fill({{-2}, {0}}, {2, 2, 2, 1}, {2}); });
}

TEST(FillBatchOfVectors, Padding_IsRefused) {
  const SyntheticDataset data({{3}, DType::F32, {3}, DType::F32, 0}, {});
  std::vector<float> inputs(3);
  std::vector<float> targets(3);
  const std::vector<SampleRef> samples = {{SampleRef::kPadding}};
  expect_error(ErrorCode::InvalidArgument, {"sample -1"}, [&] {
    data.fill_batch(Split::Train, samples, Tensor(inputs.data(), {1, 3}, DType::F32),
                    Tensor(targets.data(), {1, 3}, DType::F32));
  });
}

}  // namespace
}  // namespace shoal::train
