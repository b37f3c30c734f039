#include "shoal/runtime/fsdp/sharded_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "shoal/runtime/base/error.h"
#include "shoal/tests/support/sharded/workloads.h"

namespace shoal::test {
namespace {

using fsdp::Strategy;

void expect_same_bits(const ShardedResult& got, const ShardedResult& want) {
  EXPECT_EQ(got.hashes.weights, want.hashes.weights);
  EXPECT_EQ(got.hashes.state, want.hashes.state);
  ASSERT_EQ(got.reports.size(), want.reports.size());
  for (std::size_t i = 0; i < want.reports.size(); ++i) {
    EXPECT_EQ(got.reports[i].loss_sum, want.reports[i].loss_sum) << "step " << i;
    EXPECT_EQ(got.reports[i].grad_norm, want.reports[i].grad_norm) << "step " << i;
  }
  EXPECT_EQ(got.evaluation.loss_sum, want.evaluation.loss_sum);
  EXPECT_EQ(got.evaluation.correct, want.evaluation.correct);
}

ShardedRun unsharded(const Workload& workload, int ranks) {
  ShardedRun run = run_of(workload, ranks);
  run.policies.strategy = Strategy::None;
  run.evaluates = true;
  run.settings.max_norm = 0.5;
  return run;
}

class ShardedModelParity : public testing::TestWithParam<std::tuple<std::string, int>> {};

TEST_P(ShardedModelParity, FullHasTheBitsOfNone_AtAnyPrefetchAndThreads) {
  const auto& [name, ranks] = GetParam();
  const ShardedRun reference = unsharded(small_workload(name), ranks);
  const ShardedResult want = run_sharded(reference);
  EXPECT_EQ(want.reports.size(), 3U);
  EXPECT_TRUE(std::isfinite(want.reports.back().loss_sum));
  for (const int prefetch : {0, 1, 2}) {
    for (const int threads : {1, 2, 3}) {
      if (threads != 1 && prefetch != 1) continue;
      SCOPED_TRACE(testing::Message() << "prefetch " << prefetch << ", threads " << threads);
      ShardedRun run = reference;
      run.policies = {.strategy = Strategy::Full, .prefetch = prefetch, .wrap_types = {}};
      run.runtime.threads_per_rank = threads;
      run.runtime.check_hazards = true;
      expect_same_bits(run_sharded(run), want);
    }
  }
}

TEST_P(ShardedModelParity, PoisonedPaddingReachesNothing) {
  const auto& [name, ranks] = GetParam();
  for (const Strategy strategy : {Strategy::None, Strategy::Full}) {
    ShardedRun run = unsharded(small_workload(name), ranks);
    run.policies.strategy = strategy;
    const ShardedResult want = run_sharded(run);
    run.edit_options = [](fsdp::ShardOptions& options) { options.padding = std::numeric_limits<float>::quiet_NaN(); };
    expect_same_bits(run_sharded(run), want);
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<std::string, int>>& info) {
  std::string name = std::get<0>(info.param) + "_world_" + std::to_string(std::get<1>(info.param));
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
}

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const Workload& workload : small_workloads()) names.push_back(workload.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Workloads, ShardedModelParity,
                         testing::Combine(testing::ValuesIn(workload_names()), testing::Values(1, 2, 3, 4)), name_of);

TEST(ShardedModel, RunTwice_GivesTheSameBits) {
  const ShardedRun run = run_of(small_workload("gpt_odd"), 3);
  expect_same_bits(run_sharded(run), run_sharded(run));
}

TEST(ShardedModel, RandomDelaysOnEveryStream_ChangeNoBit) {
  ShardedRun run = run_of(small_workload("gpt_odd"), 2);
  const ShardedResult want = run_sharded(run);
  run.runtime.execution = HostExecution::ThreadPerStream;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    run.runtime.delay_seed = seed;
    run.policies.prefetch = static_cast<int>(seed % 3);
    expect_same_bits(run_sharded(run), want);
  }
}

TEST(ShardedModel, InitialWeights_DoNotDependOnTheWorldSize) {
  std::vector<std::uint64_t> hashes;
  for (const int ranks : {1, 2, 3, 4}) {
    ShardedRun run = run_of(small_workload("awkward"), ranks);
    run.steps = 0;
    hashes.push_back(run_sharded(run).hashes.weights);
  }
  for (const std::uint64_t hash : hashes) EXPECT_EQ(hash, hashes[0]);
}

TEST(ShardedModel, GradientNorm_IsTheNormOfTheMeanGradient_AndClippingScalesToIt) {
  ShardedRun run = run_of(small_workload("gpt"), 2);
  run.steps = 1;
  const double norm = run_sharded(run).reports[0].grad_norm;
  run.settings.max_norm = norm / 4;
  const fsdp::StepReport clipped = run_sharded(run).reports[0];
  EXPECT_EQ(clipped.grad_norm, norm);
  EXPECT_DOUBLE_EQ(clipped.clip_factor, 0.25);
  run.settings.max_norm = 2 * norm;
  EXPECT_EQ(run_sharded(run).reports[0].clip_factor, 1.0);
}

TEST(ShardedModel, StepsLowerTheLoss) {
  ShardedRun run = run_of(small_workload("gpt"), 2);
  const auto make_batch = run.make_batch;
  run.make_batch = [make_batch](std::int64_t) { return make_batch(0); };
  run.steps = 30;
  const std::vector<fsdp::StepReport> reports = run_sharded(run).reports;
  EXPECT_LT(reports.back().mean_loss(), 0.7 * reports.front().mean_loss());
}

TEST(ShardedModel, FrozenParameters_StayAndTakeNeitherGradientNorState) {
  ShardedRun run = run_of(small_workload("awkward"), 2);
  std::vector<std::vector<float>> seen;
  std::mutex turn;
  run.inspect = [&](fsdp::ShardedModel& model, Device& device) {
    std::vector<float> values = model.read_parameter("frozen.weight");
    const std::lock_guard lock(turn);
    seen.push_back(std::move(values));
    EXPECT_LT(device.ledger().live()[MemoryTag::Gradients], device.ledger().live()[MemoryTag::Parameters]);
  };
  run_sharded(run);
  ASSERT_EQ(seen.size(), 4U);
  for (const std::vector<float>& values : seen) EXPECT_EQ(values, seen[0]);
}

TEST(ShardedModel, OtherStrategies_AreRefusedByName) {
  ShardedRun run = run_of(small_workload("gpt"), 2);
  run.policies.strategy = Strategy::Hybrid;
  try {
    run_sharded(run);
    FAIL() << "hybrid was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unsupported);
    EXPECT_NE(std::string(error.what()).find("hybrid"), std::string::npos) << error.what();
  }
}

TEST(ShardedModel, AnExceptionOnOneRank_SurfacesOnAll) {
  ShardedRun run = run_of(small_workload("gpt"), 3);
  std::atomic<int> calls{0};
  run.inspect = [&](fsdp::ShardedModel&, Device&) {
    if (++calls == 2) fail(ErrorCode::InvalidArgument, "[inspect] one rank gives up");
  };
  try {
    run_sharded(run);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("one rank gives up"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace shoal::test
