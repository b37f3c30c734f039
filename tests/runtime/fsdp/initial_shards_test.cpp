#include "shoal/runtime/fsdp/initial_shards.h"

#include <gtest/gtest.h>

#include <atomic>

#include "shoal/runtime/base/error.h"
#include "shoal/tests/support/sharded/workloads.h"

namespace shoal::test {
namespace {

void count_up(const nn::Parameter& parameter, std::int64_t first, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(1000 * parameter.index + first + static_cast<std::int64_t>(i));
  }
}

TEST(InitialShards, ValuesOfTheCallersOwn_ArriveInEveryShard) {
  for (const int ranks : {1, 3}) {
    ShardedRun run = run_of(small_workload("awkward"), ranks);
    run.edit_options = [](fsdp::ShardOptions& options) { options.initial_values = count_up; };
    run_on_ranks(run, [](RankView& view) {
      for (const nn::Parameter* parameter : view.model.parameters()) {
        std::vector<float> want(static_cast<std::size_t>(parameter->shape.numel()));
        count_up(*parameter, 0, want);
        EXPECT_EQ(view.sharded.read_parameter(parameter->name), want) << parameter->name;
      }
    });
  }
}

TEST(InitialShards, ValuesThatThrowHalfway_SurfaceOnAllRanks) {
  ShardedRun run = run_of(small_workload("gpt"), 2);
  std::atomic<int> calls{0};
  run.edit_options = [&](fsdp::ShardOptions& options) {
    options.initial_values = [&](const nn::Parameter& parameter, std::int64_t, std::span<float>) {
      if (parameter.name.ends_with("bias") && calls++ == 0) fail(ErrorCode::Corrupt, "[values] unreadable");
    };
  };
  const std::vector<std::string> errors = errors_on_ranks(run, [](RankView&) {});
  const std::size_t thrower = errors[0].starts_with("[values]") ? 0 : 1;
  EXPECT_EQ(errors[thrower], "[values] unreadable");
  const std::string& other = errors[1 - thrower];
  EXPECT_NE(other.find("has left"), std::string::npos) << other;
}

}  // namespace
}  // namespace shoal::test
