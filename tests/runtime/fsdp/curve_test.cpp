#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <sstream>

#include "shoal/nn/models/gpt.h"
#include "shoal/nn/models/resnet.h"
#include "shoal/optim/adamw.h"
#include "shoal/optim/sgd.h"
#include "shoal/runtime/base/hash.h"
#include "shoal/tests/support/sharded/workloads.h"
#include "shoal/tests/support/tolerance.h"

// Fifty steps against PyTorch's, from the same weights and batches: curves/make_curves.py defines both and made the
// curves.

namespace shoal::test {
namespace {

constexpr int kSteps = 50;
constexpr int kDifferentBatches = 4;

/// Elements [first, first + count) of make_curves.py's `uniform(name, ...)`.
std::vector<float> uniform(const std::string& name, std::int64_t first, std::int64_t count) {
  std::uint64_t seed = 0xCBF29CE484222325ULL;
  for (const char letter : name) seed = (seed ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint64_t z = seed + static_cast<std::uint64_t>(first + i + 1) * 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    z = z ^ (z >> 31);
    values[static_cast<std::size_t>(i)] = static_cast<float>(z >> 40) / 16777216.0F;
  }
  return values;
}

void initial_values(const nn::Parameter& parameter, std::int64_t first, std::span<float> values) {
  const int dims = parameter.shape.num_dims();
  if (dims == 1 && parameter.name.ends_with("weight")) {
    std::ranges::fill(values, 1.0F);
    return;
  }
  const double fan_in =
      dims > 1 ? static_cast<double>(parameter.shape.numel()) / static_cast<double>(parameter.shape[0]) : 2500.0;
  const auto scale = static_cast<float>(1 / std::sqrt(fan_in));
  const std::vector<float> u = uniform(parameter.name, first, static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = (2.0F * u[i] - 1.0F) * scale;
}

struct Curves {
  std::vector<double> float64;
  std::vector<double> float32;
};

Curves stored_curves(int first_column) {
  std::ifstream file(CURVES_FILE);
  Curves curves;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream row(line);
    std::vector<double> columns(4);
    for (double& column : columns) row >> column;
    curves.float64.push_back(columns[static_cast<std::size_t>(first_column)]);
    curves.float32.push_back(columns[static_cast<std::size_t>(first_column + 1)]);
  }
  return curves;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < b.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

void expect_near_pytorch(const ShardedRun& run, int first_column) {
  const Curves curves = stored_curves(first_column);
  ASSERT_EQ(curves.float64.size(), static_cast<std::size_t>(kSteps));
  std::vector<double> losses;
  for (const fsdp::StepReport& report : run_sharded(run).reports) losses.push_back(report.mean_loss());
  ASSERT_EQ(losses.size(), curves.float64.size());
  const double own = distance(curves.float32, curves.float64);
  const double got = distance(losses, curves.float64);
  testing::Test::RecordProperty("distance", std::to_string(got));
  EXPECT_LE(got, kCurveFactor * own + kCurveFloor) << "PyTorch's own float32 curve is " << own << " away";
}

ShardedRun base_run() {
  ShardedRun run;
  run.ranks = 2;
  run.steps = kSteps;
  run.edit_options = [](fsdp::ShardOptions& options) { options.initial_values = initial_values; };
  return run;
}

TEST(Curve, FiftyStepsOfAGptWithAdamW_FollowPyTorch) {
  const nn::GptConfig config{.layers = 2, .width = 32, .heads = 2, .context = 24, .vocabulary = 61};
  constexpr std::int64_t kBatch = 6;
  ShardedRun run = base_run();
  run.settings = {.lr = 2e-3, .max_norm = 0};
  run.make_model = [=] { return std::make_unique<nn::Gpt>(config); };
  run.make_rule = [] { return optim::make_adamw({.beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8, .weight_decay = 0.1}); };
  run.make_batch = [=](std::int64_t step) {
    const std::string name = "ids." + std::to_string(step % kDifferentBatches);
    const std::vector<float> u = uniform(name, 0, kBatch * (config.context + 1));
    HostBatch batch = random_tokens(0, kBatch, config.context, 1);
    for (std::int64_t b = 0; b < kBatch; ++b) {
      for (std::int64_t t = 0; t < config.context; ++t) {
        const auto id = [&](std::int64_t at) {
          const float scaled =
              u[static_cast<std::size_t>(b * (config.context + 1) + at)] * static_cast<float>(config.vocabulary);
          return static_cast<std::uint32_t>(scaled) / 2;
        };
        batch.inputs[static_cast<std::size_t>(b * config.context + t)] = id(t);
        batch.targets[static_cast<std::size_t>(b * config.context + t)] = id(t + 1);
      }
    }
    return batch;
  };
  expect_near_pytorch(run, 0);
}

TEST(Curve, FiftyStepsOfAResNetWithBatchNormAndSgd_FollowPyTorch) {
  constexpr std::int64_t kBatch = 16;
  constexpr std::int64_t kSide = 16;
  ShardedRun run = base_run();
  run.settings = {.lr = 2e-3, .max_norm = 0};
  run.make_model = [] { return std::make_unique<nn::ResNet9>(nn::ImageConfig{.channels = 3, .classes = 10}, 4); };
  run.make_rule = [] { return optim::make_sgd({.momentum = 0.9, .weight_decay = 5e-4, .is_nesterov = true}); };
  run.make_batch = [=](std::int64_t step) {
    const std::string index = std::to_string(step % kDifferentBatches);
    HostBatch batch = random_images(0, kBatch, {kSide, kSide, 3}, 1);
    const std::vector<float> pixels = uniform("images." + index, 0, kBatch * kSide * kSide * 3);
    for (std::size_t i = 0; i < pixels.size(); ++i)
      batch.inputs[i] = std::bit_cast<std::uint32_t>(2.0F * pixels[i] - 1.0F);
    const std::vector<float> classes = uniform("classes." + index, 0, kBatch);
    for (std::size_t i = 0; i < classes.size(); ++i) batch.targets[i] = static_cast<std::uint32_t>(classes[i] * 10.0F);
    return batch;
  };
  expect_near_pytorch(run, 2);
}

}  // namespace
}  // namespace shoal::test
