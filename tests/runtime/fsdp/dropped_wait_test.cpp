#include <gtest/gtest.h>

#include <fmt/core.h>

#include <algorithm>

#include <atomic>

#include "shoal/runtime/base/error.h"
#include "shoal/tests/support/sharded/workloads.h"

namespace shoal::test {
namespace {

/// A wait of a plan: the `wait`-th of operation `op`.
struct WaitPlace {
  fsdp::PassKind pass;
  std::size_t op;
  std::size_t wait;
};

std::vector<WaitPlace> waits_of(const ShardedRun& base) {
  std::vector<WaitPlace> places;
  std::atomic<bool> is_taken[2] = {false, false};
  ShardedRun run = base;
  run.steps = 0;
  run.edit_options = [&](fsdp::ShardOptions& options) {
    options.edit_plan = [&](fsdp::Plan& plan) {
      if (is_taken[plan.kind == fsdp::PassKind::Update ? 1 : 0].exchange(true)) return;
      static std::mutex turn;
      const std::lock_guard lock(turn);
      for (std::size_t op = 0; op < plan.ops.size(); ++op) {
        for (std::size_t wait = 0; wait < plan.ops[op].waits.size(); ++wait) places.push_back({plan.kind, op, wait});
      }
    };
  };
  run_sharded(run);
  return places;
}

class DroppedWait : public testing::TestWithParam<std::tuple<std::string, int>> {};

TEST_P(DroppedWait, IsReportedByTheHappensBeforeCheck_NamingBothOperations) {
  const auto& [name, prefetch] = GetParam();
  ShardedRun run = run_of(small_workload(name), 2);
  run.policies.prefetch = prefetch;
  run.runtime.check_hazards = true;
  run.steps = 2;
  run_sharded(run);  // as planned, nothing is reported
  const std::vector<WaitPlace> places = waits_of(run);
  ASSERT_GT(places.size(), 5U);
  for (const WaitPlace& place : places) {
    std::string what;
    run.edit_options = [&](fsdp::ShardOptions& options) {
      options.edit_plan = [&](fsdp::Plan& plan) {
        if (plan.kind != place.pass) return;
        std::vector<int>& waits = plan.ops[place.op].waits;
        waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(place.wait));
      };
    };
    const std::string where =
        fmt::format("{} pass, operation {}, wait {}", place.pass == fsdp::PassKind::Train ? "train" : "update",
                    place.op, place.wait);
    try {
      run_sharded(run);
      ADD_FAILURE() << "not reported: " << where;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Internal) << where << ": " << error.what();
      const std::string text = error.what();
      EXPECT_NE(text.find("hazard"), std::string::npos) << where << ": " << text;
      // Both operations stand in quotes.
      EXPECT_GE(std::ranges::count(text, '\''), 4) << where << ": " << text;
    }
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<std::string, int>>& info) {
  std::string name = std::get<0>(info.param) + "_prefetch_" + std::to_string(std::get<1>(info.param));
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
}

INSTANTIATE_TEST_SUITE_P(TenPlans, DroppedWait,
                         testing::Values(std::tuple("gpt", 0), std::tuple("gpt", 1), std::tuple("gpt", 2),
                                         std::tuple("gpt_odd", 1), std::tuple("gpt_odd", 3), std::tuple("resnet", 1),
                                         std::tuple("resnet_odd", 2), std::tuple("mlp", 1), std::tuple("chain-9x16", 1),
                                         std::tuple("awkward", 1)),
                         name_of);

}  // namespace
}  // namespace shoal::test
