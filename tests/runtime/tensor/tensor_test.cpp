#include "shoal/runtime/tensor/tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "shoal/runtime/base/error.h"

namespace shoal {
namespace {

bool is_refused(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code() == ErrorCode::InvalidArgument;
  }
  return false;
}

class TensorTest : public ::testing::Test {
 protected:
  std::array<float, 24> memory_{};
  Tensor tensor_{memory_.data(), Shape{2, 3, 4}, DType::F32};
};

TEST_F(TensorTest, DefaultMade_IsNone) {
  const Tensor none;
  EXPECT_FALSE(none.is_defined());
  EXPECT_EQ(none.numel(), 0);
  EXPECT_EQ(none.num_bytes(), 0);
  EXPECT_EQ(ByteRanges({none}).count(), 0);
}

TEST_F(TensorTest, TellsItsElementsAndItsBytes) {
  EXPECT_TRUE(tensor_.is_defined());
  EXPECT_EQ(tensor_.numel(), 24);
  EXPECT_EQ(tensor_.num_bytes(), 96);
  EXPECT_EQ(tensor_.as<float>(), memory_.data());
  const ByteRange range = tensor_;
  EXPECT_EQ(range.begin, memory_.data());
  EXPECT_EQ(range.bytes, 96);
  EXPECT_EQ(Tensor(memory_.data(), Shape{3}, DType::BF16).num_bytes(), 6);
  EXPECT_EQ(Tensor(memory_.data(), Shape{}, DType::F64).num_bytes(), 8);
}

TEST_F(TensorTest, Reshaped_SharesTheElements) {
  const Tensor flat = tensor_.reshaped(Shape{6, 4});
  EXPECT_EQ(flat.data(), tensor_.data());
  EXPECT_EQ(flat.shape(), (Shape{6, 4}));
  EXPECT_EQ(flat.dtype(), DType::F32);
  EXPECT_TRUE(is_refused([&] { tensor_.reshaped(Shape{5, 5}); }));
  EXPECT_TRUE(is_refused([&] { Tensor().reshaped(Shape{0}); }));
}

TEST_F(TensorTest, FlatSlice_ViewsItsPart) {
  const Tensor part = tensor_.flat_slice(5, 7);
  EXPECT_EQ(part.as<float>(), memory_.data() + 5);
  EXPECT_EQ(part.shape(), (Shape{7}));
  EXPECT_EQ(tensor_.flat_slice(24, 0).numel(), 0);
  EXPECT_EQ(tensor_.flat_slice(0, 24).numel(), 24);
  EXPECT_EQ(Tensor(memory_.data(), Shape{9}, DType::BF16).flat_slice(3, 1).data(),
            reinterpret_cast<char*>(memory_.data()) + 6);
}

TEST_F(TensorTest, FlatSlice_OutsideTheTensor_IsInvalidArgument) {
  EXPECT_TRUE(is_refused([&] { tensor_.flat_slice(-1, 2); }));
  EXPECT_TRUE(is_refused([&] { tensor_.flat_slice(0, 25); }));
  EXPECT_TRUE(is_refused([&] { tensor_.flat_slice(24, 1); }));
  EXPECT_TRUE(is_refused([&] { tensor_.flat_slice(3, -1); }));
  EXPECT_TRUE(is_refused([&] { tensor_.flat_slice(1, std::int64_t{9223372036854775807}); }));
  EXPECT_TRUE(is_refused([&] { Tensor().flat_slice(0, 0); }));
}

TEST_F(TensorTest, EmptyTensor_SlicesToNothing) {
  const Tensor empty(nullptr, Shape{0, 3}, DType::F32);
  EXPECT_TRUE(empty.is_defined());
  EXPECT_EQ(empty.flat_slice(0, 0).data(), nullptr);
  EXPECT_EQ(ByteRanges({empty}).count(), 0);
}

}  // namespace
}  // namespace shoal
