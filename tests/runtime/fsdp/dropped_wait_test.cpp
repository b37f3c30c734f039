#include <gtest/gtest.h>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <mutex>

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

std::string name_of_pass(fsdp::PassKind pass) {
  constexpr std::array kNames = {"train", "evaluate", "predict", "update"};
  return kNames[static_cast<std::size_t>(pass)];
}

std::vector<WaitPlace> waits_of(const ShardedRun& base) {
  std::vector<WaitPlace> places;
  std::array<bool, 4> is_taken{};
  std::mutex turn;
  ShardedRun run = base;
  run.steps = 0;
  run.edit_options = [&](fsdp::ShardOptions& options) {
    options.edit_plan = [&](fsdp::Plan& plan) {
      const std::lock_guard lock(turn);
      if (std::exchange(is_taken[static_cast<std::size_t>(plan.kind)], true)) return;
      for (std::size_t op = 0; op < plan.ops.size(); ++op) {
        for (std::size_t wait = 0; wait < plan.ops[op].waits.size(); ++wait) places.push_back({plan.kind, op, wait});
      }
    };
  };
  run_sharded(run);
  return places;
}

/// Runs with one wait left out: that has to be reported.
void expect_report(ShardedRun run, const WaitPlace& place) {
  run.edit_options = [&](fsdp::ShardOptions& options) {
    options.edit_plan = [&](fsdp::Plan& plan) {
      if (plan.kind != place.pass) return;
      std::vector<int>& waits = plan.ops[place.op].waits;
      waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(place.wait));
    };
  };
  const std::string where =
      fmt::format("{} pass, operation {}, wait {}", name_of_pass(place.pass), place.op, place.wait);
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

struct WaitCase {
  const char* workload;
  int prefetch;
  int ranks = 2;
  bool is_interrupted = false;  // what counts is evaluations and predictions between steps, not the steps
};

class DroppedWait : public testing::TestWithParam<WaitCase> {};

TEST_P(DroppedWait, IsReportedByTheHappensBeforeCheck_NamingBothOperations) {
  const WaitCase& param = GetParam();
  ShardedRun run = run_of(small_workload(param.workload), param.ranks);
  run.policies.prefetch = param.prefetch;
  run.runtime.check_hazards = true;
  run.steps = 2;
  run.evaluates = run.predicts = run.interrupts = param.is_interrupted;
  run_sharded(run);  // as planned, nothing is reported
  const std::vector<WaitPlace> places = waits_of(run);
  ASSERT_GT(places.size(), 5U);
  std::array<int, 4> num_dropped{};
  for (const WaitPlace& place : places) {
    const bool is_step = place.pass == fsdp::PassKind::Train || place.pass == fsdp::PassKind::Update;
    if (is_step == param.is_interrupted) continue;
    ++num_dropped[static_cast<std::size_t>(place.pass)];
    expect_report(run, place);
  }
  for (const fsdp::PassKind pass : {fsdp::PassKind::Train, fsdp::PassKind::Evaluate}) {
    const bool is_meant = (pass == fsdp::PassKind::Evaluate) == param.is_interrupted;
    EXPECT_EQ(num_dropped[static_cast<std::size_t>(pass)] > 0, is_meant) << name_of_pass(pass);
  }
}

std::string name_of(const testing::TestParamInfo<WaitCase>& info) {
  std::string name = fmt::format("{}_prefetch_{}_world_{}{}", info.param.workload, info.param.prefetch,
                                 info.param.ranks, info.param.is_interrupted ? "_interrupted" : "");
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
}

INSTANTIATE_TEST_SUITE_P(TenPlans, DroppedWait,
                         testing::Values(WaitCase{"gpt", 0}, WaitCase{"gpt", 1}, WaitCase{"gpt", 2},
                                         WaitCase{"gpt_odd", 1}, WaitCase{"gpt_odd", 3}, WaitCase{"resnet", 1},
                                         WaitCase{"resnet_odd", 2}, WaitCase{"mlp", 1}, WaitCase{"chain-9x16", 1},
                                         WaitCase{"awkward", 1}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(BetweenSteps, DroppedWait,
                         testing::Values(WaitCase{"gpt", 1, 2, true}, WaitCase{"resnet_odd", 0, 2, true},
                                         WaitCase{"awkward", 1, 3, true}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(ThreeRanks, DroppedWait, testing::Values(WaitCase{"mlp", 1, 3}), name_of);

}  // namespace
}  // namespace shoal::test
