#include "shoal/optim/lr_schedule.h"

#include <gtest/gtest.h>

#include <limits>

#include "shoal/tests/support/op_harness.h"

namespace shoal::optim {
namespace {

constexpr double kBase = 0.4;

TEST(LrSchedule, Constant_StaysAtTheBase) {
  for (const std::int64_t step : {1, 2, 1000}) EXPECT_EQ(lr_at({}, kBase, step), kBase);
}

TEST(LrSchedule, WarmUp_RisesInEqualStepsToTheBase) {
  for (const LrDecay decay : {LrDecay::Constant, LrDecay::Linear, LrDecay::Cosine, LrDecay::Steps}) {
    const LrSchedule schedule{.decay = decay, .warmup_steps = 4, .total_steps = 10, .step_every = 2};
    EXPECT_EQ(lr_at(schedule, kBase, 1), kBase * 0.25) << lr_decay_name(decay);
    EXPECT_EQ(lr_at(schedule, kBase, 2), kBase * 0.5) << lr_decay_name(decay);
    EXPECT_EQ(lr_at(schedule, kBase, 4), kBase) << lr_decay_name(decay);
  }
}

TEST(LrSchedule, LinearAndCosine_MeetTheirEndPointsExactly) {
  for (const LrDecay decay : {LrDecay::Linear, LrDecay::Cosine}) {
    const LrSchedule schedule{.decay = decay, .warmup_steps = 4, .total_steps = 12, .floor_ratio = 0.125};
    EXPECT_EQ(lr_at(schedule, kBase, 4), kBase) << lr_decay_name(decay);
    EXPECT_DOUBLE_EQ(lr_at(schedule, kBase, 8), kBase * (0.125 + 0.875 / 2)) << lr_decay_name(decay);  // half-way
    EXPECT_EQ(lr_at(schedule, kBase, 12), kBase * 0.125) << lr_decay_name(decay);
    EXPECT_EQ(lr_at(schedule, kBase, 13), kBase * 0.125) << lr_decay_name(decay);
    EXPECT_EQ(lr_at(schedule, kBase, 1'000'000), kBase * 0.125) << lr_decay_name(decay);
    const LrSchedule to_zero{.decay = decay, .total_steps = 12};
    EXPECT_EQ(lr_at(to_zero, kBase, 12), 0) << lr_decay_name(decay);
  }
}

TEST(LrSchedule, LinearAndCosine_NeverRiseAfterTheWarmUp) {
  for (const LrDecay decay : {LrDecay::Linear, LrDecay::Cosine}) {
    const LrSchedule schedule{.decay = decay, .warmup_steps = 3, .total_steps = 100, .floor_ratio = 0.1};
    for (std::int64_t step = 4; step <= 101; ++step) {
      EXPECT_LE(lr_at(schedule, kBase, step), lr_at(schedule, kBase, step - 1)) << lr_decay_name(decay) << step;
    }
  }
}

TEST(LrSchedule, Cosine_StartsAndEndsFlatterThanLinear) {
  const LrSchedule cosine{.decay = LrDecay::Cosine, .total_steps = 100};
  const LrSchedule linear{.decay = LrDecay::Linear, .total_steps = 100};
  EXPECT_GT(lr_at(cosine, kBase, 25), lr_at(linear, kBase, 25));
  EXPECT_LT(lr_at(cosine, kBase, 75), lr_at(linear, kBase, 75));
}

TEST(LrSchedule, Steps_FallAfterEveryIntervalDownToTheFloor) {
  const LrSchedule schedule{
      .decay = LrDecay::Steps, .warmup_steps = 2, .floor_ratio = 0.125, .step_every = 3, .step_factor = 0.5};
  EXPECT_EQ(lr_at(schedule, kBase, 3), kBase);
  EXPECT_EQ(lr_at(schedule, kBase, 5), kBase);
  EXPECT_EQ(lr_at(schedule, kBase, 6), kBase * 0.5);
  EXPECT_EQ(lr_at(schedule, kBase, 8), kBase * 0.5);
  EXPECT_EQ(lr_at(schedule, kBase, 9), kBase * 0.25);
  EXPECT_EQ(lr_at(schedule, kBase, 1000), kBase * 0.125);
}

TEST(LrSchedule, ValuesThatCannotWork_AreRefused) {
  const auto rejects = [](const LrSchedule& schedule, const char* text) {
    test::expect_error(ErrorCode::InvalidArgument, {"[lr_schedule]", text}, [&] { lr_at(schedule, kBase, 1); });
  };
  rejects({.warmup_steps = -1}, "warmup_steps is -1;");
  rejects({.floor_ratio = 1.5}, "floor_ratio is 1.5;");
  rejects({.floor_ratio = std::numeric_limits<double>::quiet_NaN()}, "floor_ratio is nan;");
  rejects({.decay = LrDecay::Cosine}, "total_steps is 0;");
  rejects({.decay = LrDecay::Linear, .warmup_steps = 5, .total_steps = 5}, "more than the 5 steps of the warm-up");
  rejects({.decay = LrDecay::Steps}, "step_every is 0;");
  test::expect_error(ErrorCode::InvalidArgument, {"step is 0;", "counted from 1"}, [] { lr_at({}, kBase, 0); });
}

TEST(LrSchedule, Names_ParseBack) {
  for (const LrDecay decay : {LrDecay::Constant, LrDecay::Linear, LrDecay::Cosine, LrDecay::Steps}) {
    EXPECT_EQ(parse_lr_decay(lr_decay_name(decay)), decay);
  }
  test::expect_error(ErrorCode::InvalidArgument, {"'cosin' is unknown", "did you mean 'cosine'", "steps"},
                     [] { parse_lr_decay("cosin"); });
}

}  // namespace
}  // namespace shoal::optim
