#include "shoal/optim/registry.h"

#include <gtest/gtest.h>

#include "shoal/optim/adamw.h"
#include "shoal/optim/sgd.h"
#include "shoal/tests/optim/rule_run.h"
#include "shoal/tests/support/fill_values.h"

namespace shoal::optim {
namespace {

using test::RuleRun;

constexpr std::int64_t kNumel = 67;

// Two steps of both rules on equal inputs.
::testing::AssertionResult do_the_same(const Rule& a, const Rule& b) {
  const std::vector<float> weights = test::normal_values(kNumel, 1);
  RuleRun run_a(a, weights, true), run_b(b, weights, true);
  for (std::int64_t step = 1; step <= 2; ++step) {
    const std::vector<float> gradient = test::normal_values(kNumel, 1 + static_cast<std::uint64_t>(step));
    run_a.step(test::update_block(step, 0.1), gradient);
    run_b.step(test::update_block(step, 0.1), gradient);
  }
  return RuleRun::are_equal(run_a, run_b);
}

TEST(RuleRegistry, EveryName_MakesTheRuleOfThatName) {
  for (const std::string_view name : rule_names()) EXPECT_EQ(make_rule(name)->name(), name);
}

TEST(RuleRegistry, Options_ReachTheRule) {
  const RuleOptions options{
      .weight_decay = 0.2, .beta1 = 0.7, .beta2 = 0.9, .epsilon = 1e-2, .momentum = 0.6, .is_nesterov = true};
  const AdamWOptions adamw{.beta1 = 0.7, .beta2 = 0.9, .epsilon = 1e-2, .weight_decay = 0.2};
  AdamWOptions adam = adamw;
  adam.is_decoupled = false;
  EXPECT_TRUE(do_the_same(*make_rule("adamw", options), *make_adamw(adamw)));
  EXPECT_TRUE(do_the_same(*make_rule("adam", options), *make_adamw(adam)));
  EXPECT_TRUE(
      do_the_same(*make_rule("sgd", options), *make_sgd({.momentum = 0.6, .weight_decay = 0.2, .is_nesterov = true})));
  EXPECT_FALSE(do_the_same(*make_adamw(adamw), *make_adamw(adam)));
}

TEST(RuleRegistry, UnknownName_ListsTheNearestAndAll) {
  test::expect_error(ErrorCode::InvalidArgument,
                     {"[make_rule]", "'adamv' is unknown", "did you mean 'adamw'", "adamw, adam, sgd"},
                     [] { make_rule("adamv"); });
}

TEST(RuleRegistry, OptionsThatTheRuleRefuses_AreRefused) {
  test::expect_error(ErrorCode::InvalidArgument, {"[sgd]", "momentum is 2;"},
                     [] { make_rule("sgd", {.momentum = 2}); });
}

}  // namespace
}  // namespace shoal::optim
