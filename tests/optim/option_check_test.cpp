#include "shoal/optim/option_check.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "shoal/optim/sgd.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::optim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(OptionCheck, ValuesInside_Pass) {
  const OptionCheck check("rule");
  for (const double value : {0.0, 0.5, 0.999999}) check.fraction("x", value);
  for (const double value : {1e-300, 1.0, 1e300}) check.positive("x", value);
  for (const double value : {0.0, 1e300}) check.not_negative("x", value);
}

TEST(OptionCheck, ValuesOutside_AreRefusedByName) {
  const OptionCheck check("rule");
  const auto code = ErrorCode::InvalidArgument;
  for (const double value : {-1e-9, 1.0, kInfinity, kNaN}) {
    test::expect_error(code, {"[rule] x is ", "at least 0 and below 1"}, [&] { check.fraction("x", value); });
  }
  for (const double value : {0.0, -1.0, kInfinity, kNaN}) {
    test::expect_error(code, {"[rule] x is ", "above 0"}, [&] { check.positive("x", value); });
  }
  for (const double value : {-1e-9, kInfinity, kNaN}) {
    test::expect_error(code, {"[rule] x is ", "at least 0"}, [&] { check.not_negative("x", value); });
  }
}

TEST(OptionCheck, ASliceWithoutItsParameterOrState_IsRefused) {
  const auto rule = make_sgd({.momentum = 0.5});
  const ParameterInfo parameter{.name = "layer.weight", .shape = {1}};
  const auto code = ErrorCode::InvalidArgument;
  SliceUpdate slice;
  test::expect_error(code, {"[sgd]", "names no parameter"}, [&] { check_slice(*rule, slice); });
  slice.parameter = &parameter;
  test::expect_error(code, {"[sgd]", "'layer.weight' brings 0 state tensors; 1 are needed"},
                     [&] { check_slice(*rule, slice); });
  const std::vector<Tensor> state(1);
  slice.state = state;
  check_slice(*rule, slice);
}

}  // namespace
}  // namespace shoal::optim
