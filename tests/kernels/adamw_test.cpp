#include "shoal/kernels/adamw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "shoal/kernels/step_block.h"
#include "shoal/tests/support/compare.h"
#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"
#include "shoal/tests/support/reference/update.h"

namespace shoal::kernels {
namespace {

namespace reference = test::reference;
using test::OpCase;

struct State {
  std::vector<float> g, w, m, v;
};

State random_state(std::int64_t numel) {
  State state{test::normal_values(numel, 1, 0, 10), test::normal_values(numel, 2),
              test::normal_values(numel, 3, 0, 0.1), test::uniform_values(numel, 4, 0, 0.01)};
  return state;
}

StepBlock block_at(std::int64_t step) {
  StepBlock block{};
  block.seed = 0.25;
  block.count = 12;
  block.clip_factor = 0.7;
  block.lr = 1e-2;
  block.step = step;
  return block;
}

/// Outputs: w, m, v. `options` gives all but the tensors.
OpCase adamw_case(const State& state, const StepBlock& block, const AdamWUpdate& options) {
  const auto numel = static_cast<std::int64_t>(state.w.size());
  OpCase op{.name = "adamw " + std::to_string(numel), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("g", {numel}, state.g),
               test::operand("block", {sizeof(StepBlock)}, DType::U8, test::bytes_of(block))};
  op.inputs[1].read_as = DType::F64;
  op.outputs = {test::accumulated({.name = "w", .shape = {numel}, .tolerance = test::kElementwiseCancelling}, state.w),
                test::accumulated({.name = "m", .shape = {numel}, .tolerance = test::kElementwiseCancelling}, state.m),
                test::accumulated({.name = "v", .shape = {numel}, .tolerance = test::kElementwise}, state.v)};
  op.call = [options](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    AdamWUpdate t = options;
    t.g = in[0];
    t.block = in[1];
    t.w = out[0];
    t.m = out[1];
    t.v = out[2];
    adamw_update(stream, t);
  };
  op.reference = [options, block](const OpCase::Doubles& in, const OpCase::Doubles& initial) {
    OpCase::Doubles out = initial;
    std::vector<double> grad = in[0];
    for (double& g : grad) g = g / (block.seed * block.count) * block.clip_factor;
    reference::adamw({.lr = block.lr,
                      .beta1 = options.beta1,
                      .beta2 = options.beta2,
                      .epsilon = options.epsilon,
                      .weight_decay = options.weight_decay,
                      .is_decoupled = options.is_decoupled,
                      .step = static_cast<double>(block.step)},
                     grad, out[0], out[1], out[2]);
    return out;
  };
  op.offset_step = numel > 10000 ? 31 : 1;
  return op;
}

std::vector<AdamWUpdate> variants() {
  AdamWUpdate decoupled;
  decoupled.weight_decay = 0.1;
  AdamWUpdate coupled = decoupled;
  coupled.is_decoupled = false;
  AdamWUpdate other;
  other.beta1 = 0.8;
  other.beta2 = 0.95;
  other.epsilon = 1e-6;
  return {AdamWUpdate{}, decoupled, coupled, other};
}

TEST(AdamW, EqualsReference) {
  for (const AdamWUpdate& options : variants()) {
    for (const std::int64_t numel : {0, 1, 15, 16, 17, 1013, 33009}) {
      test::check_op(adamw_case(random_state(numel), block_at(numel % 3 + 1), options));
    }
  }
}

TEST(AdamW, FormulaIsThisOne) {
  // The operations, one by one and each rounded: what any other implementation has to do for the same bits.
  const State s = random_state(3000);
  const StepBlock block = block_at(4);
  for (const AdamWUpdate& options : variants()) {
    const auto results = test::run_op_once(adamw_case(s, block, options));
    const auto divisor = static_cast<float>(block.seed * block.count);
    const auto clip = static_cast<float>(block.clip_factor);
    const auto step_size = static_cast<float>(block.lr / (1 - std::pow(options.beta1, 4)));
    const auto correction = static_cast<float>(std::sqrt(1 - std::pow(options.beta2, 4)));
    const auto decay =
        static_cast<float>(options.is_decoupled ? block.lr * options.weight_decay : options.weight_decay);
    for (std::size_t i = 0; i < s.w.size(); ++i) {
      float g = s.g[i] / divisor * clip;
      float w = s.w[i];
      if (options.is_decoupled) {
        w = w - decay * w;
      } else {
        g = g + decay * w;
      }
      const float m = s.m[i] + static_cast<float>(1 - options.beta1) * (g - s.m[i]);
      const float v = static_cast<float>(options.beta2) * s.v[i] + static_cast<float>(1 - options.beta2) * (g * g);
      const float denominator = std::sqrt(v) / correction + static_cast<float>(options.epsilon);
      w = w - step_size * m / denominator;
      ASSERT_EQ(test::as_floats(results[0])[i], w) << i;
      ASSERT_EQ(test::as_floats(results[1])[i], m) << i;
      ASSERT_EQ(test::as_floats(results[2])[i], v) << i;
    }
  }
}

TEST(AdamW, TwoStepsHaveTheirClosedForm) {
  // From m = v = 0 and with epsilon 0: step 1 moves by lr sign(g1); step 2 by
  // lr (beta1 g1 + g2) / (1 + beta1) / sqrt((beta2 g1^2 + g2^2) / (1 + beta2)).
  AdamWUpdate options;
  options.epsilon = 0;
  const std::vector<float> g1 = {3, -0.5f, 1e-3f, 700};
  const std::vector<float> g2 = {-1, -0.5f, 4e-3f, 7};
  State state{g1, {1, 2, -3, 0.5f}, std::vector<float>(4), std::vector<float>(4)};
  StepBlock block = block_at(1);
  block.clip_factor = 1;
  auto results = test::run_op_once(adamw_case(state, block, options));
  const std::vector<float> w1 = test::as_floats(results[0]);
  const State second{g2, w1, test::as_floats(results[1]), test::as_floats(results[2])};
  block.step = 2;
  const std::vector<float> w2 = test::as_floats(test::run_op_once(adamw_case(second, block, options))[0]);
  std::vector<double> want1;
  std::vector<double> want2;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto a = static_cast<double>(g1[i]);
    const auto b = static_cast<double>(g2[i]);
    want1.push_back(static_cast<double>(state.w[i]) - block.lr * (a > 0 ? 1 : -1));
    const double mean = (0.9 * a + b) / 1.9;
    const double square = (0.999 * a * a + b * b) / 1.999;
    want2.push_back(want1.back() - block.lr * mean / std::sqrt(square));
  }
  EXPECT_TRUE(test::is_within(std::vector<double>(w1.begin(), w1.end()), want1, DType::F32, test::kElementwise));
  EXPECT_TRUE(test::is_within(std::vector<double>(w2.begin(), w2.end()), want2, DType::F32, test::kElementwise));
}

TEST(AdamW, AnySplitIntoShardsGivesTheSameBits) {
  const State whole = random_state(1000);
  const AdamWUpdate options = variants()[1];
  const auto results = test::run_op_once(adamw_case(whole, block_at(2), options));
  for (const std::int64_t pieces : {2, 3, 7}) {
    const std::int64_t size = 1000 / pieces + 1;
    for (std::int64_t begin = 0; begin < 1000; begin += size) {
      const std::int64_t end = std::min<std::int64_t>(begin + size, 1000);
      const auto part = [&](const std::vector<float>& v) {
        return std::vector<float>(v.begin() + begin, v.begin() + end);
      };
      const State shard{part(whole.g), part(whole.w), part(whole.m), part(whole.v)};
      const auto shard_results = test::run_op_once(adamw_case(shard, block_at(2), options));
      for (std::size_t k = 0; k < 3; ++k)
        EXPECT_EQ(test::as_floats(shard_results[k]), part(test::as_floats(results[k])));
    }
  }
}

TEST(AdamW, SkippedStepWritesNothing) {
  StepBlock block = block_at(2);
  block.is_skipped = 1;
  const State state = random_state(100);
  const auto results = test::run_op_once(adamw_case(state, block, variants()[1]));
  EXPECT_EQ(test::as_floats(results[0]), state.w);
  EXPECT_EQ(test::as_floats(results[1]), state.m);
  EXPECT_EQ(test::as_floats(results[2]), state.v);
}

TEST(AdamW, WrongArguments_AreNamed) {
  const test::HostStream stream;
  const test::GuardedTensor w({8}, DType::F32);
  const test::GuardedTensor g({8}, DType::F32);
  const test::GuardedTensor m({8}, DType::F32);
  const test::GuardedTensor v({7}, DType::F32);
  const test::GuardedTensor block({sizeof(StepBlock)}, DType::U8);
  AdamWUpdate t{.w = w.tensor(), .g = g.tensor(), .m = m.tensor(), .v = v.tensor(), .block = block.tensor()};
  test::expect_error(ErrorCode::InvalidArgument, {"[adamw_update]", "v has shape (7)", "8"},
                     [&] { adamw_update(*stream, t); });
  t.v = t.m;
  test::expect_error(ErrorCode::InvalidArgument, {"m and v overlap"}, [&] { adamw_update(*stream, t); });
  t.beta2 = 1;
  test::expect_error(ErrorCode::InvalidArgument, {"beta2 is 1", "[0, 1)"}, [&] { adamw_update(*stream, t); });
}

}  // namespace
}  // namespace shoal::kernels
