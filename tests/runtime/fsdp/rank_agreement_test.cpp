#include "shoal/runtime/fsdp/rank_agreement.h"

#include <gtest/gtest.h>

#include <atomic>

#include "shoal/optim/adamw.h"
#include "shoal/optim/sgd.h"
#include "shoal/tests/support/sharded/workloads.h"

namespace shoal::test {
namespace {

using fsdp::ShardOptions;

/// What construction throws on each rank where rank 1's options are edited, or rank 0's: it comes to the same.
std::vector<std::string> errors_with(const std::function<void(ShardOptions&)>& edit) {
  ShardedRun run = run_of(small_workload("gpt"), 2);
  std::atomic<int> calls{0};
  run.edit_options = [&](ShardOptions& options) {
    if (calls++ == 1) edit(options);
  };
  return errors_on_ranks(run, [](RankView&) {});
}

void expect_everywhere(const std::vector<std::string>& errors, const std::string& part) {
  for (const std::string& error : errors) EXPECT_NE(error.find(part), std::string::npos) << "got: " << error;
}

TEST(RankAgreement, ADifference_IsRaisedOnEveryRank_NamingRankAndWhat) {
  expect_everywhere(errors_with([](ShardOptions& o) { o.seed = 8; }),
                    "rank 1 differs from rank 0 in the seed of the initial weights");
  expect_everywhere(errors_with([](ShardOptions& o) { o.policies.prefetch = 3; }),
                    "rank 1 differs from rank 0 in the policies");
  expect_everywhere(errors_with([](ShardOptions& o) { o.evaluate_batch = o.train_batch; }),
                    "rank 1 differs from rank 0 in the plans");
}

TEST(RankAgreement, AnotherModelOrRule_IsNamed) {
  ShardedRun run = run_of(small_workload("chain-3x7"), 2);
  std::atomic<int> calls{0};
  run.make_rule = [&] { return calls++ == 0 ? optim::make_adamw() : optim::make_sgd(); };
  expect_everywhere(errors_on_ranks(run, [](RankView&) {}), "rank 1 differs from rank 0 in the optimizer's rule");
  run = run_of(small_workload("chain-3x7"), 2);
  calls = 0;
  run.make_model = [&] {
    auto model = small_workload("chain-3x7").make_model();
    model->parameters().front()->is_trainable = calls++ == 0;
    return model;
  };
  expect_everywhere(errors_on_ranks(run, [](RankView&) {}), "rank 1 differs from rank 0 in the model");
}

TEST(RankAgreement, EqualRanks_HaveNothingToSay) {
  for (const std::string& error : errors_with([](ShardOptions&) {})) EXPECT_EQ(error, "");
}

/// The workload's batches of 12 rows with the last one's targets ignored, or of the first 11.
ShardedRun uneven_run(const std::string& name, const std::vector<std::int64_t>& rows, fsdp::Strategy strategy) {
  ShardedRun run = run_of(small_workload(name), 2);
  const auto make_batch = run.make_batch;
  run.make_batch = [make_batch](std::int64_t step) {
    HostBatch batch = make_batch(step);
    const auto per_row = static_cast<std::size_t>(batch.targets_shape.numel() / batch.targets_shape[0]);
    std::fill(batch.targets.end() - static_cast<std::ptrdiff_t>(per_row), batch.targets.end(), ~std::uint32_t{0});
    return batch;
  };
  run.rows = rows;
  run.evaluates = true;
  run.policies.strategy = strategy;
  run.settings.max_norm = 0.5;
  return run;
}

TEST(RankAgreement, UnevenBatches_GiveTheBitsOfOnesThatAreFilledUpWithIgnoredRows) {
  // Powers of two apart, the scaled gradients of 11 rows are those of 12 rows of which one counts for nothing.
  for (const fsdp::Strategy strategy : {fsdp::Strategy::None, fsdp::Strategy::Full}) {
    for (const char* name : {"mlp", "gpt_odd"}) {
      const ShardedResult even = run_sharded(uneven_run(name, {6, 6}, strategy));
      const ShardedResult uneven = run_sharded(uneven_run(name, {6, 5}, strategy));
      ASSERT_EQ(uneven.reports.size(), even.reports.size());
      for (std::size_t i = 0; i < even.reports.size(); ++i) {
        EXPECT_EQ(uneven.reports[i].count, even.reports[i].count);
        EXPECT_EQ(uneven.reports[i].loss_sum, even.reports[i].loss_sum);
        EXPECT_EQ(uneven.reports[i].grad_norm, even.reports[i].grad_norm);
      }
      EXPECT_EQ(uneven.hashes.weights, even.hashes.weights) << name;
      EXPECT_EQ(uneven.evaluation.loss_sum, even.evaluation.loss_sum);
      EXPECT_EQ(uneven.evaluation.count, even.evaluation.count);
    }
  }
}

TEST(RankAgreement, UnevenBatches_ArePredictedInMemory) {
  const ShardedResult result = run_sharded(uneven_run("gpt_odd", {8, 4}, fsdp::Strategy::Full));
  for (std::size_t rank = 0; rank < 2; ++rank) EXPECT_EQ(result.predicted[rank], result.peak[rank]);
  EXPECT_GT(result.peak[0].total, result.peak[1].total);
}

}  // namespace
}  // namespace shoal::test
