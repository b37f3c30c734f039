#include "shoal/kernels/sgd.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shoal/kernels/step_block.h"
#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"
#include "shoal/tests/support/reference/update.h"

namespace shoal::kernels {
namespace {

namespace reference = test::reference;
using test::OpCase;

StepBlock block_at(std::int64_t step) {
  StepBlock block{};
  block.seed = 0.25;
  block.count = 12;
  block.clip_factor = 0.7;
  block.lr = 1e-2;
  block.step = step;
  return block;
}

struct State {
  std::vector<float> g, w, m;
};

State random_state(std::int64_t numel) {
  return {test::normal_values(numel, 1, 0, 10), test::normal_values(numel, 2), test::normal_values(numel, 3)};
}

/// Outputs: w and, with momentum, m. In step 1 m starts poisoned, since it is not read.
OpCase sgd_case(const State& state, const StepBlock& block, const SgdUpdate& options) {
  const auto numel = static_cast<std::int64_t>(state.w.size());
  OpCase op{.name = "sgd " + std::to_string(numel), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("g", {numel}, state.g),
               test::operand("block", {sizeof(StepBlock)}, DType::U8, test::bytes_of(block))};
  op.inputs[1].read_as = DType::F64;
  op.outputs = {test::accumulated({.name = "w", .shape = {numel}, .tolerance = test::kElementwiseCancelling}, state.w)};
  const bool has_momentum = options.momentum != 0;
  if (has_momentum) {
    test::OpOutput m{.name = "m", .shape = {numel}, .tolerance = test::kElementwiseCancelling};
    op.outputs.push_back(block.step == 1 ? m : test::accumulated(m, state.m));
  }
  op.call = [options, has_momentum](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    SgdUpdate t = options;
    t.g = in[0];
    t.block = in[1];
    t.w = out[0];
    if (has_momentum) t.m = out[1];
    sgd_update(stream, t);
  };
  op.reference = [options, block, has_momentum](const OpCase::Doubles& in, const OpCase::Doubles& initial) {
    std::vector<double> grad = in[0];
    for (double& g : grad) g = g / (block.seed * block.count) * block.clip_factor;
    std::vector<double> w = initial[0];
    std::vector<double> m = has_momentum ? initial[1] : std::vector<double>{};
    m.resize(w.size());
    reference::sgd({.lr = block.lr,
                    .momentum = options.momentum,
                    .weight_decay = options.weight_decay,
                    .is_nesterov = options.is_nesterov,
                    .step = static_cast<double>(block.step)},
                   grad, w, m);
    return has_momentum ? OpCase::Doubles{w, m} : OpCase::Doubles{w};
  };
  op.offset_step = numel > 10000 ? 31 : 1;
  return op;
}

std::vector<SgdUpdate> variants() {
  SgdUpdate decayed;
  decayed.weight_decay = 0.1;
  SgdUpdate momentum = decayed;
  momentum.momentum = 0.9;
  SgdUpdate nesterov = momentum;
  nesterov.is_nesterov = true;
  return {SgdUpdate{}, decayed, momentum, nesterov};
}

TEST(Sgd, EqualsReference) {
  for (const SgdUpdate& options : variants()) {
    for (const std::int64_t step : {1, 2}) {
      for (const std::int64_t numel : {0, 1, 15, 16, 17, 1013, 33009}) {
        test::check_op(sgd_case(random_state(numel), block_at(step), options));
      }
    }
  }
}

TEST(Sgd, TwoStepsHaveTheirClosedForm) {
  // Exact numbers: seed count = 4, no clipping, lr = 1/2, momentum = 1/2: m1 = g1, m2 = m1 / 2 + g2.
  StepBlock block = block_at(1);
  block.count = 16;
  block.clip_factor = 1;
  block.lr = 0.5;
  for (const bool is_nesterov : {false, true}) {
    SgdUpdate options;
    options.momentum = 0.5;
    options.is_nesterov = is_nesterov;
    block.step = 1;
    auto results = test::run_op_once(sgd_case({{8}, {10}, {0}}, block, options));
    const float w1 = is_nesterov ? 10 - 0.5f * 3 : 10 - 0.5f * 2;
    EXPECT_EQ(test::as_floats(results[0])[0], w1);
    block.step = 2;
    results = test::run_op_once(sgd_case({{4}, {w1}, test::as_floats(results[1])}, block, options));
    EXPECT_EQ(test::as_floats(results[1])[0], 2.0f);
    EXPECT_EQ(test::as_floats(results[0])[0], w1 - 0.5f * 2);
  }
}

TEST(Sgd, AnySplitIntoShardsGivesTheSameBits) {
  const State whole = random_state(500);
  for (const SgdUpdate& options : variants()) {
    const auto results = test::run_op_once(sgd_case(whole, block_at(2), options));
    for (std::int64_t begin = 0; begin < 500; begin += 171) {
      const std::int64_t end = std::min<std::int64_t>(begin + 171, 500);
      const auto part = [&](const std::vector<float>& v) {
        return std::vector<float>(v.begin() + begin, v.begin() + end);
      };
      const auto shard =
          test::run_op_once(sgd_case({part(whole.g), part(whole.w), part(whole.m)}, block_at(2), options));
      for (std::size_t k = 0; k < shard.size(); ++k)
        EXPECT_EQ(test::as_floats(shard[k]), part(test::as_floats(results[k])));
    }
  }
}

TEST(Sgd, SkippedStepWritesNothing) {
  StepBlock block = block_at(2);
  block.is_skipped = 1;
  const State state = random_state(100);
  const auto results = test::run_op_once(sgd_case(state, block, variants()[2]));
  EXPECT_EQ(test::as_floats(results[0]), state.w);
  EXPECT_EQ(test::as_floats(results[1]), state.m);
}

TEST(Sgd, WrongArguments_AreNamed) {
  const test::HostStream stream;
  const test::GuardedTensor w({8}, DType::F32);
  const test::GuardedTensor g({8}, DType::F32);
  const test::GuardedTensor block({sizeof(StepBlock)}, DType::U8);
  SgdUpdate t{.w = w.tensor(), .g = g.tensor(), .m = {}, .block = block.tensor()};
  t.is_nesterov = true;
  test::expect_error(ErrorCode::InvalidArgument, {"[sgd_update]", "momentum is 0", "Nesterov"},
                     [&] { sgd_update(*stream, t); });
  t.momentum = 0.9;
  test::expect_error(ErrorCode::InvalidArgument, {"m is none"}, [&] { sgd_update(*stream, t); });
  t.m = t.w;
  test::expect_error(ErrorCode::InvalidArgument, {"w and m overlap"}, [&] { sgd_update(*stream, t); });
}

}  // namespace
}  // namespace shoal::kernels
