#include "shoal/runtime/fsdp/sharded_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "shoal/nn/batch_norm.h"
#include "shoal/nn/linear.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/hash.h"
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
  EXPECT_EQ(got.predictions, want.predictions);
}

ShardedRun unsharded(const Workload& workload, int ranks) {
  ShardedRun run = run_of(workload, ranks);
  run.policies.strategy = Strategy::None;
  run.evaluates = true;
  run.predicts = true;
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

INSTANTIATE_TEST_SUITE_P(Product, ShardedModelParity,
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

TEST(ShardedModel, Describe_IsThePlansText_EqualOnAllRanks) {
  std::vector<std::string> texts(2);
  run_on_ranks(run_of(small_workload("gpt"), 2), [&](RankView& view) {
    texts[static_cast<std::size_t>(view.rank)] = view.sharded.describe();
    EXPECT_EQ(view.sharded.plan_fingerprint(), hash_text(view.sharded.describe()));
    EXPECT_EQ(view.sharded.arena_bytes(), view.device.reserved_bytes());
  });
  EXPECT_EQ(texts[0], texts[1]);
  for (const char* part : {"blocks.1", "reduce_norm", "check: proved"}) {
    EXPECT_NE(texts[0].find(part), std::string::npos) << part;
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
    const MemoryBytes& live = device.ledger().live();
    EXPECT_LT(live[MemoryTag::Gradients], live[MemoryTag::Parameters]);
    EXPECT_EQ(live[MemoryTag::OptimizerState], 2 * live[MemoryTag::Gradients]);
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

TEST(ShardedModel, WhatComesBetweenSteps_ChangesNoBitOfThem) {
  for (const char* name : {"gpt_odd", "resnet_odd", "awkward"}) {
    ShardedRun run = unsharded(small_workload(name), 2);
    run.policies.strategy = Strategy::Full;
    run.runtime.check_hazards = true;
    const ShardedResult want = run_sharded(run);
    run.interrupts = true;
    expect_same_bits(run_sharded(run), want);
  }
}

TEST(ShardedModel, Predictions_AreWhatTheEvaluationCounts) {
  ShardedRun run = unsharded(small_workload("mlp"), 1);
  const ShardedResult result = run_sharded(run);
  const HostBatch batch = run.make_batch(0);
  ASSERT_EQ(result.predictions.size(), 12U * 10);
  int correct = 0;
  for (std::size_t row = 0; row < 12; ++row) {
    const auto logits = result.predictions.begin() + static_cast<std::ptrdiff_t>(10 * row);
    correct +=
        std::max_element(logits, logits + 10) - logits == static_cast<std::ptrdiff_t>(batch.targets[row]) ? 1 : 0;
  }
  EXPECT_EQ(result.evaluation.correct, correct);
  EXPECT_EQ(result.evaluation.count, 12);
}

/// A head over features that a frozen batch norm normalises by its running statistics, and maybe another one by its
/// batch's.
class FrozenNorm final : public nn::Model {
 public:
  explicit FrozenNorm(bool observes) : Model("FrozenNorm"), observes_(observes) {
    for (nn::Parameter* parameter : norm_.own_parameters()) parameter->is_trainable = false;
  }
  nn::Variable predict(nn::Context& ctx, const Tensor& inputs) override {
    nn::Context frozen = ctx;
    frozen.tape = nullptr;
    frozen.uses_batch_statistics = false;
    nn::Variable x = norm_(frozen, nn::constant(inputs));
    if (observes_) x = observed_(ctx, x);
    return head_(ctx, x);
  }

 private:
  bool observes_;
  nn::BatchNorm norm_{this, "norm", 10};
  nn::BatchNorm observed_{this, "observed", 10};
  nn::Linear head_{this, "head", 10, 10};
};

TEST(ShardedModel, AFrozenBatchNorm_KeepsItsStatistics) {
  for (const int ranks : {1, 2}) {
    ShardedRun run = run_of(small_workload("mlp"), ranks);
    run.make_model = [] { return std::make_unique<FrozenNorm>(false); };
    run.evaluates = true;
    run_on_ranks(run, [ranks](RankView& view) {
      EXPECT_EQ(view.device.ledger().live()[MemoryTag::Buffers], 40 * 4);  // nothing is observed
      const auto loss = [&] { return view.sharded.evaluate(view.load(0)).loss_sum; };
      const double before = loss();
      const collectives::CollectiveCounters counted = view.sharded.traffic().reduce;
      view.sharded.train_step(view.load(1), {.lr = 0});
      view.sharded.finish();
      constexpr auto kAllReduce = static_cast<std::size_t>(collectives::CollectiveKind::AllReduce);
      // The loss's sums and the norm.
      EXPECT_EQ(view.sharded.traffic().reduce.calls[kAllReduce] - counted.calls[kAllReduce], ranks > 1 ? 2 : 0);
      EXPECT_EQ(loss(), before);
    });
  }
}

TEST(ShardedModel, AFrozenBatchNorm_LeavesOthersTheirs) {
  ShardedRun run = run_of(small_workload("mlp"), 2);
  run.make_model = [] { return std::make_unique<FrozenNorm>(true); };
  run.evaluates = true;
  run_on_ranks(run, [](RankView& view) {
    EXPECT_EQ(view.device.ledger().live()[MemoryTag::Buffers], (20 + 2 * 20) * 4);
    const double before = view.sharded.evaluate(view.load(0)).loss_sum;
    view.sharded.train_step(view.load(1), {.lr = 0});
    EXPECT_NE(view.sharded.evaluate(view.load(0)).loss_sum, before);
  });
}

TEST(ShardedModel, HashesAndParameters_LeaveTheLastReportToBeFetched) {
  ShardedRun run = run_of(small_workload("gpt_odd"), 2);
  const ShardedResult want = run_sharded(run);
  run_on_ranks(run, [&](RankView& view) {
    fsdp::ShardedModel& sharded = view.sharded;
    EXPECT_FALSE(sharded.train_step(view.load(0), run.settings).has_value());
    sharded.hashes();
    const auto first = sharded.train_step(view.load(1), run.settings);
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->loss_sum, want.reports[0].loss_sum);
    sharded.read_parameter(view.model.parameters().front()->name);
    sharded.hashes();
    const auto second = sharded.finish();
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ(second->step, 2);
    EXPECT_EQ(second->loss_sum, want.reports[1].loss_sum);
    EXPECT_FALSE(sharded.finish().has_value());
  });
}

TEST(ShardedModel, AnExceptionBetweenPasses_SurfacesOnAll) {
  const ShardedRun run = run_of(small_workload("gpt"), 3);
  const std::vector<std::string> errors = errors_on_ranks(run, [&](RankView& view) {
    if (view.rank == 1) fail(ErrorCode::InvalidArgument, "[inspect] one rank gives up");
    view.sharded.train_step(view.load(0), run.settings);
    view.sharded.finish();
  });
  EXPECT_EQ(errors[1], "[inspect] one rank gives up");
  for (const int rank : {0, 2}) {
    const std::string& error = errors[static_cast<std::size_t>(rank)];
    EXPECT_NE(error.find("rank 1"), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace shoal::test
