#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "shoal/tests/support/sharded/sharded_run.h"
#include "shoal/tests/support/sharded/workloads.h"

namespace shoal::test {
namespace {

using fsdp::Strategy;

/// One row of a pairwise cover of models x worlds x prefetch depths x threads: what sanitizers run in place of the
/// products of sharded_model_test and predicted_memory_test.
struct CoverRow {
  int workload;
  int ranks;
  int prefetch;
  int threads;
};

std::vector<CoverRow> cover_rows() {
  std::vector<CoverRow> rows;
  for (int workload = 0; workload < 10; ++workload) {
    for (int ranks = 1; ranks <= 4; ++ranks) {
      rows.push_back({workload, ranks, (ranks + workload) % 3, 1 + (ranks + workload / 3) % 3});
    }
  }
  return rows;
}

TEST(ParityCover, HoldsEveryPair) {
  std::array<std::set<std::pair<int, int>>, 6> pairs;
  for (const CoverRow& row : cover_rows()) {
    pairs[0].emplace(row.workload, row.ranks);
    pairs[1].emplace(row.workload, row.prefetch);
    pairs[2].emplace(row.workload, row.threads);
    pairs[3].emplace(row.ranks, row.prefetch);
    pairs[4].emplace(row.ranks, row.threads);
    pairs[5].emplace(row.prefetch, row.threads);
  }
  const std::array<std::size_t, 6> products = {40, 30, 30, 12, 12, 9};
  for (std::size_t i = 0; i < products.size(); ++i) EXPECT_EQ(pairs[i].size(), products[i]) << i;
  EXPECT_EQ(small_workloads().size(), 10U);
}

void expect_predicted(const ShardedResult& result) {
  ASSERT_EQ(result.predicted.size(), result.peak.size());
  for (std::size_t rank = 0; rank < result.peak.size(); ++rank) {
    EXPECT_EQ(result.predicted[rank].total, result.peak[rank].total) << "rank " << rank;
  }
}

class ParityCover : public testing::TestWithParam<CoverRow> {};

TEST_P(ParityCover, FullWithPoisonedPadding_HasTheBitsOfNone_AndThePredictedPeak) {
  const CoverRow row = GetParam();
  ShardedRun run = run_of(small_workloads()[static_cast<std::size_t>(row.workload)], row.ranks);
  run.evaluates = true;
  run.predicts = true;
  run.settings.max_norm = 0.5;
  run.policies.strategy = Strategy::None;
  const ShardedResult want = run_sharded(run);
  expect_predicted(want);

  run.policies = {.strategy = Strategy::Full, .prefetch = row.prefetch, .wrap_types = {}};
  run.runtime.threads_per_rank = row.threads;
  run.runtime.check_hazards = true;
  run.edit_options = [](fsdp::ShardOptions& options) { options.padding = std::numeric_limits<float>::quiet_NaN(); };
  const ShardedResult got = run_sharded(run);
  expect_predicted(got);
  EXPECT_EQ(got.hashes.weights, want.hashes.weights);
  EXPECT_EQ(got.hashes.state, want.hashes.state);
  EXPECT_EQ(got.reports.back().loss_sum, want.reports.back().loss_sum);
  EXPECT_EQ(got.reports.back().grad_norm, want.reports.back().grad_norm);
  EXPECT_EQ(got.evaluation.loss_sum, want.evaluation.loss_sum);
  EXPECT_EQ(got.predictions, want.predictions);
}

std::string name_of(const testing::TestParamInfo<CoverRow>& info) {
  const CoverRow& row = info.param;
  std::string name = small_workloads()[static_cast<std::size_t>(row.workload)].name + "_world_" +
                     std::to_string(row.ranks) + "_prefetch_" + std::to_string(row.prefetch) + "_threads_" +
                     std::to_string(row.threads);
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Pairs, ParityCover, testing::ValuesIn(cover_rows()), name_of);

}  // namespace
}  // namespace shoal::test
