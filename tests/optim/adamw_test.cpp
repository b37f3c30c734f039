#include "shoal/optim/adamw.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "shoal/tests/optim/rule_run.h"
#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/reference/update.h"
#include "shoal/tests/support/tolerance.h"

namespace shoal::optim {
namespace {

using test::RuleRun;
using test::update_block;

constexpr std::int64_t kNumel = 131;  // not a multiple of any vector width
constexpr double kLr = 0.02;

struct Moments {
  std::vector<double> w, m, v;
};

void expect_two_steps_match(const AdamWOptions& options) {
  const auto rule = make_adamw(options);
  const std::vector<float> weights = test::normal_values(kNumel, 1);
  RuleRun run(*rule, weights, true);
  Moments want{{weights.begin(), weights.end()}, std::vector<double>(kNumel, 0), std::vector<double>(kNumel, 0)};
  for (std::int64_t step = 1; step <= 2; ++step) {
    const std::vector<float> gradient = test::normal_values(kNumel, 10 + static_cast<std::uint64_t>(step));
    run.step(update_block(step, kLr), gradient);
    test::reference::adamw({kLr, options.beta1, options.beta2, options.epsilon, options.weight_decay,
                            options.is_decoupled, static_cast<double>(step)},
                           test::mean_gradient(update_block(step, kLr), gradient), want.w, want.m, want.v);
    EXPECT_TRUE(test::is_within(run.weights(), want.w, DType::F32, test::kElementwiseCancelling)) << "step " << step;
    EXPECT_TRUE(test::is_within(run.state(0), want.m, DType::F32, test::kElementwiseCancelling)) << "step " << step;
    EXPECT_TRUE(test::is_within(run.state(1), want.v, DType::F32, test::kElementwiseCancelling)) << "step " << step;
  }
}

TEST(AdamW, TwoSteps_MatchTheClosedForm) { expect_two_steps_match({.weight_decay = 0.1}); }

TEST(AdamW, TwoStepsOfAdamWithL2_MatchTheClosedForm) {
  expect_two_steps_match({.weight_decay = 0.1, .is_decoupled = false});
}

TEST(AdamW, UnusualOptions_MatchTheClosedForm) {
  expect_two_steps_match({.beta1 = 0.5, .beta2 = 0.95, .epsilon = 1e-3, .weight_decay = 0});
}

TEST(AdamW, AnySlices_GiveTheSameBitsAsTheWhole) {
  const auto rule = make_adamw({.weight_decay = 0.1});
  const std::vector<float> weights = test::adversarial_values(kNumel, 2);
  RuleRun whole(*rule, weights, true), sharded(*rule, weights, true), odd(*rule, weights, true);
  for (std::int64_t step = 1; step <= 3; ++step) {
    const std::vector<float> gradient = test::adversarial_values(kNumel, 20 + static_cast<std::uint64_t>(step));
    whole.step(update_block(step, kLr), gradient);
    sharded.step(update_block(step, kLr), gradient, {64, 128});
    odd.step(update_block(step, kLr), gradient, {1, 1, 18, 35, 101});
  }
  EXPECT_TRUE(RuleRun::are_equal(sharded, whole));
  EXPECT_TRUE(RuleRun::are_equal(odd, whole));
}

TEST(AdamW, AParameterThatDoesNotDecay_MovesAsWithoutDecay) {
  const auto decaying = make_adamw({.weight_decay = 0.1});
  const auto plain = make_adamw({.weight_decay = 0});
  const std::vector<float> weights = test::normal_values(kNumel, 3);
  const std::vector<float> gradient = test::normal_values(kNumel, 4);
  RuleRun masked(*decaying, weights, false), unmasked(*decaying, weights, true), without(*plain, weights, true);
  for (RuleRun* run : {&masked, &unmasked, &without}) run->step(update_block(1, kLr), gradient);
  EXPECT_TRUE(RuleRun::are_equal(masked, without));
  EXPECT_FALSE(RuleRun::are_equal(unmasked, without));
}

TEST(AdamW, TreatsAlike_ComparesDecay) {
  const ParameterInfo matrix{.name = "w", .shape = {3, 4}, .decays = true};
  const ParameterInfo bias{.name = "b", .shape = {4}, .decays = false};
  EXPECT_TRUE(make_adamw({.weight_decay = 0.1})->treats_alike(matrix, matrix));
  EXPECT_FALSE(make_adamw({.weight_decay = 0.1})->treats_alike(matrix, bias));
  EXPECT_TRUE(make_adamw({.weight_decay = 0})->treats_alike(matrix, bias));
}

TEST(AdamW, ASkippedStep_WritesNothing) {
  const auto rule = make_adamw();
  const std::vector<float> weights = test::normal_values(kNumel, 5);
  RuleRun run(*rule, weights, true), untouched(*rule, weights, true);
  kernels::StepBlock block = update_block(1, kLr);
  block.is_skipped = 1;
  run.step(block, std::vector<float>(kNumel, std::numeric_limits<float>::quiet_NaN()));
  EXPECT_TRUE(RuleRun::are_equal(run, untouched));
}

TEST(AdamW, NoElements_IsLegal) {
  const auto rule = make_adamw();
  RuleRun run(*rule, {}, true);
  run.step(update_block(1, kLr), {});
  EXPECT_TRUE(run.weights().empty());
}

TEST(AdamW, Describes_Itself) {
  EXPECT_EQ(make_adamw()->name(), "adamw");
  EXPECT_EQ(make_adamw({.is_decoupled = false})->name(), "adam");
  EXPECT_EQ(make_adamw()->num_state_tensors(), 2);
  EXPECT_EQ(make_adamw()->needs({}), Needs::Elementwise);
}

TEST(AdamW, OptionsThatCannotWork_AreRefused) {
  const auto code = ErrorCode::InvalidArgument;
  test::expect_error(code, {"[adamw]", "beta1 is 1;", "below 1"}, [] { make_adamw({.beta1 = 1}); });
  test::expect_error(code, {"[adamw]", "beta2 is -0.5;"}, [] { make_adamw({.beta2 = -0.5}); });
  test::expect_error(code, {"[adam]", "epsilon is 0;", "above 0"},
                     [] { make_adamw({.epsilon = 0, .is_decoupled = false}); });
  test::expect_error(code, {"weight_decay is nan;"},
                     [] { make_adamw({.weight_decay = std::numeric_limits<double>::quiet_NaN()}); });
}

}  // namespace
}  // namespace shoal::optim
