#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "shoal/kernels/step_block.h"
#include "shoal/optim/rule.h"
#include "shoal/tests/support/compare.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"

namespace shoal::test {

/// A step's block as the trainer leaves it for the update: gradients are seed * count times the mean's.
inline kernels::StepBlock update_block(std::int64_t step, double lr) {
  kernels::StepBlock block{};
  block.count = 6;
  block.seed = 0.25;
  block.lr = lr;
  block.step = step;
  block.grad_norm = 2;
  block.clip_factor = 0.75;
  return block;
}

/// The gradient that an update sees: divided and clipped as the block says, in double.
inline std::vector<double> mean_gradient(const kernels::StepBlock& block, std::span<const float> gradient) {
  std::vector<double> mean;
  for (const float g : gradient)
    mean.push_back(static_cast<double>(g) / (block.seed * block.count) * block.clip_factor);
  return mean;
}

/// One parameter with its gradient and optimizer state in guarded host memory, updated step by step by a rule.
class RuleRun {
 public:
  RuleRun(const optim::Rule& rule, std::span<const float> weights, bool decays)
      : rule_(rule),
        parameter_{.name = "layer.weight", .shape = {numel_of(weights)}, .decays = decays},
        w_({numel_of(weights)}, DType::F32),
        g_({numel_of(weights)}, DType::F32),
        block_({static_cast<std::int64_t>(sizeof(kernels::StepBlock))}, DType::U8) {
    w_.set_bytes(std::as_bytes(weights));
    const std::vector<float> zeros(weights.size(), 0.0f);
    for (int i = 0; i < rule.num_state_tensors(); ++i) {
      state_.emplace_back(Shape{numel_of(weights)}, DType::F32);
      state_.back().set_bytes(std::as_bytes(std::span(zeros)));
    }
  }

  /// Updates the parameter in slices that end at `cuts` and at its end.
  void step(const kernels::StepBlock& block, std::span<const float> gradient,
            const std::vector<std::int64_t>& cuts = {}) {
    g_.set_bytes(std::as_bytes(gradient));
    block_.set_bytes(std::as_bytes(std::span(&block, 1)));
    std::int64_t begin = 0;
    std::vector<std::int64_t> ends = cuts;
    ends.push_back(numel_of(gradient));
    HostStream stream;
    for (const std::int64_t end : ends) {
      update(*stream, begin, end - begin);
      begin = end;
    }
    stream->synchronize();
    EXPECT_TRUE(std::ranges::equal(g_.bytes(), std::as_bytes(gradient))) << "the gradient was changed";
    for (const GuardedTensor* tensor : {&w_, &g_, &block_}) EXPECT_TRUE(tensor->guards_are_intact());
    for (const GuardedTensor& tensor : state_) EXPECT_TRUE(tensor.guards_are_intact());
  }

  std::vector<double> weights() const { return w_.values(); }
  std::vector<double> state(std::size_t i) const { return state_[i].values(); }

  /// Weights and state are the same bits.
  static ::testing::AssertionResult are_equal(const RuleRun& a, const RuleRun& b) {
    auto result = has_equal_bits(a.w_.bytes(), b.w_.bytes(), DType::F32);
    for (std::size_t i = 0; result && i < a.state_.size(); ++i) {
      result = has_equal_bits(a.state_[i].bytes(), b.state_[i].bytes(), DType::F32);
    }
    return result;
  }

 private:
  static std::int64_t numel_of(std::span<const float> values) { return static_cast<std::int64_t>(values.size()); }

  void update(Stream& stream, std::int64_t begin, std::int64_t numel) {
    std::vector<Tensor> state;
    for (const GuardedTensor& tensor : state_) state.push_back(tensor.tensor().flat_slice(begin, numel));
    rule_.update(stream, {.parameter = &parameter_,
                          .w = w_.tensor().flat_slice(begin, numel),
                          .g = g_.tensor().flat_slice(begin, numel),
                          .state = state,
                          .block = block_.tensor()});
  }

  const optim::Rule& rule_;
  optim::ParameterInfo parameter_;
  GuardedTensor w_, g_, block_;
  std::vector<GuardedTensor> state_;
};

}  // namespace shoal::test
