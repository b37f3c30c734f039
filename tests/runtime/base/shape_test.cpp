#include "shoal/runtime/base/shape.h"

#include <gtest/gtest.h>

#include <vector>

#include "shoal/runtime/base/error.h"

namespace shoal {
namespace {

ErrorCode code_of(const std::vector<std::int64_t>& dims) {
  try {
    const Shape shape{std::span<const std::int64_t>(dims)};
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::Internal;
}

TEST(Shape, Scalar_HasOneElement) {
  const Shape scalar;
  EXPECT_EQ(scalar.num_dims(), 0);
  EXPECT_EQ(scalar.numel(), 1);
  EXPECT_EQ(scalar.to_string(), "()");
}

TEST(Shape, IndexesFromBothEnds) {
  const Shape shape{2, 3, 5};
  EXPECT_EQ(shape.numel(), 30);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[-1], 5);
  EXPECT_EQ(shape[-3], 2);
  EXPECT_EQ(shape.to_string(), "(2, 3, 5)");
  EXPECT_EQ(shape.dims().size(), 3U);
}

TEST(Shape, Equality_ComparesExtentsAndRank) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_FALSE((Shape{2, 3}) == (Shape{3, 2}));
  EXPECT_FALSE((Shape{2}) == (Shape{2, 1}));
  EXPECT_FALSE(Shape{} == Shape{1});
}

TEST(Shape, ZeroExtent_IsEmptyWhateverTheOthersAre) {
  EXPECT_EQ((Shape{0, 7}).numel(), 0);
  EXPECT_EQ((Shape{std::int64_t{1} << 40, std::int64_t{1} << 40, 0}).numel(), 0);
}

TEST(Shape, RefusesWhatItCannotHold) {
  EXPECT_EQ(code_of({1, 1, 1, 1, 1, 1, 1}), ErrorCode::InvalidArgument);
  EXPECT_EQ(code_of({2, -1}), ErrorCode::InvalidArgument);
  EXPECT_EQ(code_of({std::int64_t{1} << 32, std::int64_t{1} << 31}), ErrorCode::InvalidArgument);
  EXPECT_EQ((Shape{1, 2, 1, 2, 1, 2}).numel(), 8);
}

}  // namespace
}  // namespace shoal
