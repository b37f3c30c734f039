#include "shoal/runtime/fsdp/parameter_reader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>

#include "shoal/runtime/base/error.h"
#include "shoal/tests/support/sharded/workloads.h"

namespace shoal::test {
namespace {

/// Every parameter of the awkward model as rank 0 reads it before the first step.
std::map<std::string, std::vector<float>> read_all(int ranks, fsdp::Strategy strategy) {
  ShardedRun run = run_of(small_workload("awkward"), ranks);
  run.policies.strategy = strategy;
  run.steps = 0;
  std::map<std::string, std::vector<float>> values;
  std::mutex turn;
  run.inspect = [&](fsdp::ShardedModel& model, Device&) {
    const std::unique_ptr<nn::Model> twin = make_awkward_model();
    for (const nn::Parameter* parameter : twin->parameters()) {
      std::vector<float> read = model.read_parameter(parameter->name);
      const std::lock_guard lock(turn);
      values[parameter->name] = std::move(read);
    }
  };
  run_sharded(run);
  return values;
}

TEST(ParameterReader, ReadsTheSameValues_UnderEveryStrategyAndWorld) {
  const auto want = read_all(1, fsdp::Strategy::None);
  EXPECT_EQ(want.at("inner.scalar"), std::vector<float>{0.5F});
  EXPECT_TRUE(want.at("inner.empty").empty());
  EXPECT_EQ(want.at("table.weight").size(), 63U);
  for (const int ranks : {2, 3, 4}) {
    EXPECT_EQ(read_all(ranks, fsdp::Strategy::None), want);
    EXPECT_EQ(read_all(ranks, fsdp::Strategy::Full), want);
  }
}

TEST(ParameterReader, ReadingFits_WhereTrainingHadAllTheMemoryThereIs) {
  ShardedRun run = run_of(small_workload("awkward"), 2);
  std::atomic<std::int64_t> held{0};
  run.inspect = [&](fsdp::ShardedModel& model, Device& device) {
    EXPECT_GE(device.reserved_bytes(), model.arena_bytes());
    held = device.ledger().live().total + device.reserved_bytes();
  };
  const ShardedResult want = run_sharded(run);
  run.runtime.memory_limit_bytes = held;
  run.inspect = [](fsdp::ShardedModel& model, Device&) { EXPECT_EQ(model.read_parameter("inner.unused").size(), 15U); };
  EXPECT_EQ(run_sharded(run).hashes.state, want.hashes.state);
}

TEST(ParameterReader, AnUnknownName_IsNamed) {
  ShardedRun run = run_of(small_workload("awkward"), 1);
  run.steps = 0;
  run.inspect = [](fsdp::ShardedModel& model, Device&) { model.read_parameter("no.such"); };
  try {
    run_sharded(run);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    EXPECT_NE(std::string(error.what()).find("'no.such'"), std::string::npos) << error.what();
  }
}

TEST(ParameterReader, Hashes_TellStateFromWeights) {
  ShardedRun run = run_of(small_workload("awkward"), 2);
  run.steps = 0;
  const auto before = run_sharded(run).hashes;
  EXPECT_NE(before.weights, before.state);
  run.steps = 1;
  run.settings.lr = 0;  // moments move, weights stay
  const auto after = run_sharded(run).hashes;
  EXPECT_EQ(after.weights, before.weights);
  EXPECT_NE(after.state, before.state);
}

}  // namespace
}  // namespace shoal::test
