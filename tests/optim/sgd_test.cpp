#include "shoal/optim/sgd.h"

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

constexpr std::int64_t kNumel = 131;
constexpr double kLr = 0.1;

void expect_two_steps_match(const SgdOptions& options) {
  const auto rule = make_sgd(options);
  const std::vector<float> weights = test::normal_values(kNumel, 1);
  RuleRun run(*rule, weights, true);
  std::vector<double> w(weights.begin(), weights.end()), m(kNumel, 0);
  for (std::int64_t step = 1; step <= 2; ++step) {
    const std::vector<float> gradient = test::normal_values(kNumel, 10 + static_cast<std::uint64_t>(step));
    run.step(update_block(step, kLr), gradient);
    test::reference::sgd({kLr, options.momentum, options.weight_decay, options.is_nesterov, static_cast<double>(step)},
                         test::mean_gradient(update_block(step, kLr), gradient), w, m);
    EXPECT_TRUE(test::is_within(run.weights(), w, DType::F32, test::kElementwiseCancelling)) << "step " << step;
    if (rule->num_state_tensors() == 0) continue;
    EXPECT_TRUE(test::is_within(run.state(0), m, DType::F32, test::kElementwiseCancelling)) << "step " << step;
  }
}

TEST(Sgd, PlainSteps_MatchTheClosedForm) { expect_two_steps_match({}); }

TEST(Sgd, MomentumAndDecay_MatchTheClosedForm) { expect_two_steps_match({.momentum = 0.9, .weight_decay = 0.05}); }

TEST(Sgd, Nesterov_MatchesTheClosedForm) {
  expect_two_steps_match({.momentum = 0.8, .weight_decay = 0.05, .is_nesterov = true});
}

TEST(Sgd, ExactInputs_GiveExactWeights) {
  const auto rule = make_sgd();
  const std::vector<float> weights = test::exact_values(kNumel, 2);
  const std::vector<float> gradient = test::exact_values(kNumel, 3);
  RuleRun run(*rule, weights, true);
  kernels::StepBlock block = update_block(1, 0.5);
  block.count = 4;
  block.clip_factor = 1;
  run.step(block, gradient);  // gradient / (0.25 * 4) * 0.5: powers of two
  const std::vector<double> got = run.weights();
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], weights[i] - 0.5f * gradient[i]) << i;
}

TEST(Sgd, AnySlices_GiveTheSameBitsAsTheWhole) {
  const auto rule = make_sgd({.momentum = 0.9, .weight_decay = 0.05, .is_nesterov = true});
  const std::vector<float> weights = test::adversarial_values(kNumel, 4);
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

TEST(Sgd, AParameterThatDoesNotDecay_MovesAsWithoutDecay) {
  const auto decaying = make_sgd({.momentum = 0.9, .weight_decay = 0.1});
  const auto plain = make_sgd({.momentum = 0.9});
  const std::vector<float> weights = test::normal_values(kNumel, 5);
  const std::vector<float> gradient = test::normal_values(kNumel, 6);
  RuleRun masked(*decaying, weights, false), unmasked(*decaying, weights, true), without(*plain, weights, true);
  for (RuleRun* run : {&masked, &unmasked, &without}) run->step(update_block(1, kLr), gradient);
  EXPECT_TRUE(RuleRun::are_equal(masked, without));
  EXPECT_FALSE(RuleRun::are_equal(unmasked, without));
}

TEST(Sgd, ASkippedStep_WritesNothing) {
  const auto rule = make_sgd({.momentum = 0.9});
  const std::vector<float> weights = test::normal_values(kNumel, 7);
  RuleRun run(*rule, weights, true), untouched(*rule, weights, true);
  kernels::StepBlock block = update_block(1, kLr);
  block.is_skipped = 1;
  run.step(block, std::vector<float>(kNumel, std::numeric_limits<float>::infinity()));
  EXPECT_TRUE(RuleRun::are_equal(run, untouched));
}

TEST(Sgd, StateAndNeeds_FollowTheMomentum) {
  EXPECT_EQ(make_sgd()->num_state_tensors(), 0);
  EXPECT_EQ(make_sgd({.momentum = 0.9})->num_state_tensors(), 1);
  EXPECT_EQ(make_sgd()->needs({}), Needs::Elementwise);
  EXPECT_EQ(make_sgd()->name(), "sgd");
}

TEST(Sgd, TreatsAlike_ComparesDecay) {
  const ParameterInfo matrix{.name = "w", .shape = {3, 4}, .decays = true};
  const ParameterInfo bias{.name = "b", .shape = {4}, .decays = false};
  EXPECT_FALSE(make_sgd({.weight_decay = 0.1})->treats_alike(matrix, bias));
  EXPECT_TRUE(make_sgd()->treats_alike(matrix, bias));
}

TEST(Sgd, OptionsThatCannotWork_AreRefused) {
  const auto code = ErrorCode::InvalidArgument;
  test::expect_error(code, {"[sgd]", "momentum is 1;"}, [] { make_sgd({.momentum = 1}); });
  test::expect_error(code, {"[sgd]", "weight_decay is -1;"}, [] { make_sgd({.weight_decay = -1}); });
  test::expect_error(code, {"[sgd]", "Nesterov"}, [] { make_sgd({.is_nesterov = true}); });
}

}  // namespace
}  // namespace shoal::optim
