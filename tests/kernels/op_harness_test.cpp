// The harness must see what it is there for: each test gives it an op that is wrong in one way.

#include "shoal/tests/support/op_harness.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "shoal/tests/support/compare.h"
#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/grad_check.h"

namespace shoal::kernels {
namespace {

using test::OpCase;

constexpr std::int64_t kNumel = 20;

/// y = 2 x by `body`(x, y, workers).
using Body = std::function<void(const float*, float*, Workers&)>;

OpCase doubling_case(const Body& body) {
  OpCase op{.name = "doubling", .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("x", {kNumel}, test::normal_values(kNumel, 1))};
  op.outputs = {{.name = "y", .shape = {kNumel}, .tolerance = test::kExact, .may_alias = 0}};
  op.call = [&body](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    const auto* x = in[0].as<float>();
    auto* y = out[0].as<float>();
    stream.run("doubling", {in[0]}, {out[0]}, [x, y, &body](Workers& workers) { body(x, y, workers); });
  };
  op.reference = [](const OpCase::Doubles& in, const OpCase::Doubles&) {
    std::vector<double> y = in[0];
    for (double& value : y) value *= 2;
    return OpCase::Doubles{y};
  };
  return op;
}

void double_all(const float* x, float* y) {
  for (std::int64_t i = 0; i < kNumel; ++i) y[i] = 2 * x[i];
}

/// Whether check_op complains about `body`, with `text` among the failures.
testing::AssertionResult is_rejected(const Body& body, const std::string& text) {
  testing::TestPartResultArray failures;
  {
    testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
    test::check_op(doubling_case(body));
  }
  for (int i = 0; i < failures.size(); ++i) {
    if (std::string(failures.GetTestPartResult(i).message()).find(text) != std::string::npos) {
      return testing::AssertionSuccess();
    }
  }
  return testing::AssertionFailure() << failures.size() << " failures, none with '" << text << "'";
}

TEST(OpHarness, AcceptsACorrectOp) {
  test::check_op(doubling_case([](const float* x, float* y, Workers&) { double_all(x, y); }));
}

TEST(OpHarness, SeesAWrongValue) {
  EXPECT_TRUE(is_rejected(
      [](const float* x, float* y, Workers&) {
        double_all(x, y);
        y[kNumel - 1] = std::nextafter(y[kNumel - 1], 0.0f);
      },
      "output y"));
}

TEST(OpHarness, SeesAnElementThatIsNotWritten) {
  EXPECT_TRUE(is_rejected(
      [](const float* x, float* y, Workers&) {
        for (std::int64_t i = 0; i + 1 < kNumel; ++i) y[i] = 2 * x[i];
      },
      "output y"));
}

TEST(OpHarness, SeesWritesBeyondTheEnds) {
  EXPECT_TRUE(is_rejected(
      [](const float* x, float* y, Workers&) {
        double_all(x, y);
        y[kNumel + 3] = 0;
      },
      "12 past the tensor's end"));
  EXPECT_TRUE(is_rejected(
      [](const float* x, float* y, Workers&) {
        double_all(x, y);
        y[-1] = 0;
      },
      "before the tensor was written"));
}

TEST(OpHarness, SeesReadsBeyondTheEnds) {
  // One element more in a sum: what lies there must not be small, or it changes nothing.
  EXPECT_TRUE(is_rejected(
      [](const float* x, float* y, Workers&) {
        double_all(x, y);
        y[kNumel - 1] += x[kNumel];
      },
      "doubling: output y"));
  EXPECT_TRUE(is_rejected(
      [](const float* x, float* y, Workers&) {
        double_all(x, y);
        y[0] += x[-1];
      },
      "doubling: output y"));
  // Beyond an output, and as an integer.
  EXPECT_TRUE(is_rejected(
      [](const float* x, float* y, Workers&) {
        double_all(x, y);
        y[kNumel - 1] += y[kNumel];
      },
      "other surroundings"));
  EXPECT_TRUE(is_rejected(
      [](const float* x, float* y, Workers&) {
        double_all(x, y);
        if (std::bit_cast<std::int32_t>(x[kNumel]) > 0) y[0] = 0;
      },
      "other surroundings"));
}

TEST(OpHarness, SeesAChangedInput) {
  EXPECT_TRUE(is_rejected(
      [](const float* x, float* y, Workers&) {
        double_all(x, y);
        const_cast<float*>(x)[2] += 1;
      },
      "input x was changed"));
}

TEST(OpHarness, SeesDependenceOnAddressWorkersAndRepetition) {
  const auto nudged_if = [](const std::function<bool(const float*, Workers&)>& condition) -> Body {
    return [condition](const float* x, float* y, Workers& workers) {
      const bool is_nudged = condition(x, workers);
      double_all(x, y);
      if (is_nudged) y[5] = std::nextafter(y[5], 0.0f);
    };
  };
  EXPECT_TRUE(is_rejected(
      nudged_if([](const float* x, Workers&) { return reinterpret_cast<std::uintptr_t>(x) % 64 == 36; }), "offset 9"));
  EXPECT_TRUE(is_rejected(nudged_if([](const float*, Workers& workers) { return workers.count() == 3; }), "3 workers"));
  std::atomic<int> calls = 0;
  EXPECT_TRUE(is_rejected(nudged_if([&calls](const float*, Workers&) { return ++calls == 2; }), "repeat"));
}

TEST(OpHarness, SeesDependenceOnOldContents) {
  EXPECT_TRUE(is_rejected(
      [](const float* x, float* y, Workers&) {
        const bool was_nan = std::isnan(y[3]) || x == y;
        double_all(x, y);
        if (!was_nan) y[3] += 1;
      },
      "old contents"));
}

TEST(OpHarness, SeesAnOpThatCannotWorkInPlace) {
  EXPECT_TRUE(is_rejected(
      [](const float* x, float* y, Workers&) {
        y[0] = 2 * x[0];
        for (std::int64_t i = 1; i < kNumel; ++i)
          y[i] = 2 * x[i] + 0 * x[i - 1] + (x == y ? x[i - 1] - x[i - 1] + 1 : 0);
      },
      "in place"));
}

TEST(Compare, RulesForNanInfinityAndZeros) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto within = [](std::vector<double> got, std::vector<double> want, const test::Tolerance& tolerance) {
    return static_cast<bool>(test::is_within(got, want, DType::F32, tolerance));
  };
  EXPECT_TRUE(within({nan, infinity, 1}, {nan, infinity, 1}, test::kElementwise));
  EXPECT_FALSE(within({nan, 1}, {1, 1}, test::kElementwise));
  EXPECT_FALSE(within({1, 1}, {nan, 1}, test::kElementwise));
  EXPECT_FALSE(within({infinity, 1}, {-infinity, 1}, test::kElementwise));
  EXPECT_FALSE(within({1}, {1, 2}, test::kElementwise));
  EXPECT_FALSE(within({0, 0, 0, 0, 1}, {0, 0, 0, 0, 1}, test::kElementwise));  // mistrusted
  EXPECT_TRUE(within({0, 0, 0, 0, 1}, {0, 0, 0, 0, 1}, test::kExact));
  EXPECT_TRUE(within({}, {}, test::kElementwise));
  EXPECT_TRUE(within({-0.0, 1}, {-0.0, 1}, test::kExact));
  EXPECT_FALSE(within({-0.0, 1}, {0.0, 1}, test::kExact));
  EXPECT_FALSE(within({0.0, 1}, {-0.0, 1}, test::kExact));
}

TEST(Compare, UlpsAreThoseOfTheType) {
  EXPECT_EQ(test::ulp_at(1.0, DType::F32), 0x1p-23);
  EXPECT_EQ(test::ulp_at(-3.0, DType::F32), 0x1p-22);
  EXPECT_EQ(test::ulp_at(0.0, DType::F32), 0x1p-149);
  EXPECT_EQ(test::ulp_at(1.0, DType::BF16), 0x1p-7);
  EXPECT_EQ(test::ulp_at(1.0, DType::F16), 0x1p-10);
  EXPECT_EQ(test::ulp_at(0.0, DType::F16), 0x1p-24);
  const std::vector<double> got = {1 + 3 * 0x1p-23};
  EXPECT_DOUBLE_EQ(test::compare_values(got, std::vector<double>{1}, DType::F32).max_ulp, 3);
}

TEST(GradCheck, SeesAWrongGradient) {
  const auto loss = [](std::span<const double> x) { return x[0] * x[0] + 3 * x[1]; };
  const std::vector<double> at = {2, 5};
  EXPECT_TRUE(test::gradient_matches(loss, at, std::vector<float>{4, 3}, 1));
  EXPECT_FALSE(test::gradient_matches(loss, at, std::vector<float>{4, 3.001f}, 1));
  EXPECT_FALSE(test::gradient_matches(loss, at, std::vector<float>{4, 0}, 1));
  EXPECT_FALSE(test::gradient_matches(loss, at, std::vector<float>{0, 0}, 1));
}

}  // namespace
}  // namespace shoal::kernels
