#include "shoal/optim/rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "shoal/tests/optim/rule_run.h"
#include "shoal/tests/support/fill_values.h"

namespace shoal::optim {
namespace {

using test::RuleRun;

// A rule as a user would write it, with nothing but the public headers: Lion (Chen et al. 2023),
//   w -= lr sign(b1 m + (1 - b1) g);  m = b2 m + (1 - b2) g.
class Lion : public Rule {
 public:
  std::string name() const override { return "lion"; }
  Needs needs(const ParameterInfo&) const override { return Needs::Elementwise; }
  int num_state_tensors() const override { return 1; }
  bool treats_alike(const ParameterInfo&, const ParameterInfo&) const override { return true; }

  void update(Stream& stream, const SliceUpdate& slice) const override {
    const Tensor w = slice.w, g = slice.g, m = slice.state[0], block = slice.block;
    stream.run("lion_update", {w, g, m, block}, {w, m}, [w, g, m, block](Workers&) {
      const kernels::StepBlock& step = *kernels::step_block(block);
      if (step.is_skipped != 0) return;
      const auto scale = static_cast<float>(step.clip_factor / (step.seed * step.count));
      const auto lr = static_cast<float>(step.lr);
      for (std::int64_t i = 0; i < w.numel(); ++i) {
        const float grad = g.as<float>()[i] * scale;
        const float direction = kBeta1 * m.as<float>()[i] + (1 - kBeta1) * grad;
        w.as<float>()[i] -= std::copysign(direction == 0 ? 0.0f : lr, direction);
        m.as<float>()[i] = kBeta2 * m.as<float>()[i] + (1 - kBeta2) * grad;
      }
    });
  }

 private:
  static constexpr float kBeta1 = 0.875f;
  static constexpr float kBeta2 = 0.75f;
};

constexpr std::int64_t kNumel = 131;

TEST(Rule, OfAUser_UpdatesByItsOwnFormula) {
  const Lion rule;
  const std::vector<float> weights = test::exact_values(kNumel, 1);
  const std::vector<float> gradient = test::exact_values(kNumel, 2);
  RuleRun run(rule, weights, true);
  kernels::StepBlock block = test::update_block(1, 0.5);
  block.count = 4;
  block.clip_factor = 1;
  run.step(block, gradient);  // everything is a power of two times a small integer
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double sign = gradient[i] > 0 ? 1 : gradient[i] < 0 ? -1 : 0;
    EXPECT_EQ(run.weights()[i], weights[i] - 0.5 * sign) << i;
    EXPECT_EQ(run.state(0)[i], 0.25 * gradient[i]) << i;
  }
}

TEST(Rule, OfAUser_InSlicesGivesTheSameBitsAsTheWhole) {
  const Lion rule;
  const std::vector<float> weights = test::normal_values(kNumel, 3);
  RuleRun whole(rule, weights, true), sharded(rule, weights, true);
  for (std::int64_t step = 1; step <= 3; ++step) {
    const std::vector<float> gradient = test::normal_values(kNumel, 3 + static_cast<std::uint64_t>(step));
    whole.step(test::update_block(step, 0.1), gradient);
    sharded.step(test::update_block(step, 0.1), gradient, {64, 128});
  }
  EXPECT_TRUE(RuleRun::are_equal(sharded, whole));
}

}  // namespace
}  // namespace shoal::optim
