#include "shoal/runtime/tools/step_bench.h"

#include "shoal/tests/runtime/train/expect_error.h"

namespace shoal::tools {
namespace {

Workload tiny() {
  Workload workload = make_workload("chain-100x64");
  workload.model = "chain-2x64";
  workload.products.resize(1);
  return workload;
}

TEST(RunStepBench, BothStrategies_AreVerifiedAgainstEachOther) {
  for (const char* strategy : {"none", "full"}) {
    StepBenchOptions options;
    options.strategy = strategy;
    options.warmup = 1;
    options.steps = 2;
    const BenchRow row = run_step_bench(tiny(), options);
    EXPECT_EQ(row.strategy, strategy);
    EXPECT_EQ(row.parameters, 2 * (64 * 64 + 64));
    EXPECT_LT(row.loss[1], row.loss[0]);
    EXPECT_GT(row.gemm_share, 0);
    EXPECT_EQ(row.peak_bytes.size(), 2u);
  }
}

TEST(RunStepBench, TooFewStepsToVerify_AreRefused) {
  StepBenchOptions options;
  options.warmup = 0;
  options.steps = 1;
  test::expect_error(ErrorCode::InvalidArgument, {"1 steps", "2 together"}, [&] { run_step_bench(tiny(), options); });
}

}  // namespace
}  // namespace shoal::tools
