#include "shoal/nn/initial_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "shoal/tests/support/nn_world.h"
#include "shoal/tests/support/op_harness.h"
#include "shoal/tests/support/tolerance.h"

namespace shoal::test {
namespace {

class InitialValuesTest : public ::testing::TestWithParam<nn::Init::Kind> {
 protected:
  std::vector<float> fill(const nn::Parameter& parameter, std::uint64_t seed, std::int64_t first, std::int64_t numel) {
    const Tensor tensor = world_.make({numel}, DType::F32);
    nn::fill_initial(world_.stream(), parameter, seed, first, tensor);
    return world_.download(tensor);
  }

  NnWorld world_;
  nn::Parameter parameter_{.name = "blocks.0.up.weight", .shape = {7, 31}, .init = {GetParam(), 0.5f}};
};

TEST_P(InitialValuesTest, DoNotDependOnTheSplit) {
  const auto whole = fill(parameter_, 9, 0, 217);
  for (const std::int64_t part : {1, 13, 64, 200}) {
    std::vector<float> pieces;
    for (std::int64_t first = 0; first < 217; first += part) {
      const auto piece = fill(parameter_, 9, first, std::min<std::int64_t>(part, 217 - first));
      pieces.insert(pieces.end(), piece.begin(), piece.end());
    }
    EXPECT_EQ(pieces, whole) << part;
  }
}

TEST_P(InitialValuesTest, DependOnSeedAndNameOnly) {
  const auto whole = fill(parameter_, 9, 0, 217);
  nn::Parameter reshaped = parameter_;
  reshaped.shape = {217};
  EXPECT_EQ(fill(reshaped, 9, 0, 217), whole);
  const bool is_random = GetParam() != nn::Init::Kind::Constant;
  EXPECT_EQ(fill(parameter_, 10, 0, 217) != whole, is_random);
  nn::Parameter renamed = parameter_;
  renamed.name = "blocks.1.up.weight";
  EXPECT_EQ(fill(renamed, 9, 0, 217) != whole, is_random);
}

TEST_P(InitialValuesTest, HaveTheScale) {
  const auto values = fill(parameter_, 9, 0, 217);
  double squares = 0;
  float largest = 0;
  for (const float v : values) {
    squares += static_cast<double>(v) * static_cast<double>(v);
    largest = std::max(largest, std::abs(v));
  }
  const double rms = std::sqrt(squares / 217);
  if (GetParam() == nn::Init::Kind::Constant) {
    EXPECT_EQ(values, std::vector<float>(217, 0.5f));
  } else if (GetParam() == nn::Init::Kind::Uniform) {
    EXPECT_LE(largest, 0.5f);
    EXPECT_GT(largest, 0.45f);  // 0.9^217 is nothing
  } else {
    const double scale = 0.5;
    EXPECT_NEAR(rms, scale, kSampledDeviation * scale);
  }
}

TEST_P(InitialValuesTest, ElementsOutsideTheParameter_AreRefused) {
  expect_error(ErrorCode::InvalidArgument, {"fill_initial", "blocks.0.up.weight", "217"},
               [&] { fill(parameter_, 9, 200, 18); });
  expect_error(ErrorCode::InvalidArgument, {"fill_initial"}, [&] { fill(parameter_, 9, -1, 1); });
}

INSTANTIATE_TEST_SUITE_P(Kinds, InitialValuesTest,
                         ::testing::Values(nn::Init::Kind::Constant, nn::Init::Kind::Uniform, nn::Init::Kind::Normal));

}  // namespace
}  // namespace shoal::test
