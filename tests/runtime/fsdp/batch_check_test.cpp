#include "shoal/runtime/fsdp/batch_check.h"

#include <gtest/gtest.h>

#include "shoal/runtime/base/error.h"
#include "shoal/tests/support/sharded/workloads.h"

namespace shoal::test {
namespace {

const nn::BatchSpec kSpec{{2, 3}, DType::F32, {2}, DType::I32};

class BatchCheck : public testing::Test {
 protected:
  void expect_refusal(const nn::Batch& batch, const std::string& part) {
    try {
      fsdp::check_batch("train_step", batch, kSpec);
      ADD_FAILURE() << "accepted; expected a refusal with: " << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }

  float inputs_[6] = {};
  int targets_[2] = {};
  Tensor inputs() { return {inputs_, {2, 3}, DType::F32}; }
  Tensor targets() { return {targets_, {2}, DType::I32}; }
};

TEST_F(BatchCheck, WhatWasPlannedFor_IsAccepted) { fsdp::check_batch("train_step", {inputs(), targets()}, kSpec); }

TEST_F(BatchCheck, OtherShapesAndDtypes_AreRefusedNamingBoth) {
  expect_refusal({Tensor(inputs_, {1, 3}, DType::F32), targets()}, "inputs are fp32 of shape");
  expect_refusal({Tensor(inputs_, {2, 3}, DType::I32), targets()}, "inputs are i32");
  expect_refusal({inputs(), Tensor(targets_, {2, 1}, DType::I32)}, "planned for i32 of shape");
  expect_refusal({inputs(), Tensor()}, "[train_step] the targets are undefined");
}

TEST_F(BatchCheck, ARefusedBatch_LeavesTheModelAsItWas) {
  ShardedRun run = run_of(small_workload("gpt_odd"), 2);
  run.evaluates = true;
  run.predicts = true;
  const ShardedResult want = run_sharded(run);
  run_on_ranks(run, [&](RankView& view) {
    fsdp::ShardedModel& sharded = view.sharded;
    std::vector<fsdp::StepReport> reports;
    for (std::int64_t step = 0; step < run.steps; ++step) {
      const nn::Batch batch = view.load(step);
      nn::Batch wrong = batch;
      wrong.targets = wrong.targets.flat_slice(0, 1);
      EXPECT_THROW(sharded.train_step(wrong, run.settings), Error);
      EXPECT_THROW(sharded.evaluate(wrong), Error);
      EXPECT_THROW(sharded.predict(batch.inputs.flat_slice(0, 2)), Error);
      EXPECT_THROW(sharded.read_parameter("no.such"), Error);
      if (const auto report = sharded.train_step(batch, run.settings)) reports.push_back(*report);
    }
    if (const auto report = sharded.finish()) reports.push_back(*report);
    ASSERT_EQ(reports.size(), want.reports.size());
    for (std::size_t i = 0; i < reports.size(); ++i) {
      EXPECT_EQ(reports[i].step, static_cast<std::int64_t>(i) + 1);
      EXPECT_EQ(reports[i].loss_sum, want.reports[i].loss_sum);
    }
    EXPECT_EQ(sharded.hashes().state, want.hashes.state);
  });
}

}  // namespace
}  // namespace shoal::test
