#include "shoal/nn/feature_rows.h"

#include <gtest/gtest.h>

#include "shoal/tests/support/op_harness.h"

namespace shoal::test {
namespace {

Tensor of(const Shape& shape) { return {nullptr, shape, DType::F32}; }

TEST(FeatureRows, AsRows_KeepsTheLastDimension) {
  EXPECT_EQ(nn::as_rows(of({2, 3, 4})).shape(), (Shape{6, 4}));
  EXPECT_EQ(nn::as_rows(of({4})).shape(), (Shape{1, 4}));
  EXPECT_EQ(nn::as_rows(of({})).shape(), (Shape{1, 1}));
  EXPECT_EQ(nn::as_rows(of({2, 3, 0})).shape(), (Shape{6, 0}));
  EXPECT_EQ(nn::as_rows(of({0, 3})).shape(), (Shape{0, 3}));
}

TEST(FeatureRows, WithFeatures_ReplacesTheLastDimension) {
  EXPECT_EQ(nn::with_features({2, 3, 4}, 5), (Shape{2, 3, 5}));
  EXPECT_EQ(nn::with_features({4}, 0), (Shape{0}));
}

TEST(FeatureRows, Checks_NameOperationAndParameter) {
  const nn::Parameter parameter{.name = "norm.weight", .shape = {4}, .init = {}};
  nn::check_features("op", {2, 4}, 4, parameter);
  nn::check_rank("op", parameter, 1);
  expect_error(ErrorCode::InvalidArgument, {"[op]", "norm.weight", "(2, 5)"}, [&] {
    nn::check_features("op", {2, 5}, 4, parameter);
  });
  expect_error(ErrorCode::InvalidArgument, {"[op]", "()"}, [&] { nn::check_features("op", {}, 4, parameter); });
  expect_error(ErrorCode::InvalidArgument, {"[op]", "norm.weight", "2 dimensions"},
               [&] { nn::check_rank("op", parameter, 2); });
}

}  // namespace
}  // namespace shoal::test
