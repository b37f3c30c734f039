#include "shoal/runtime/train/train_config.h"

#include <cmath>
#include <functional>
#include <limits>

#include "shoal/collectives/factory.h"
#include "shoal/tests/runtime/train/expect_error.h"

namespace shoal::train {
namespace {

using test::expect_error;

void expect_refused(ErrorCode code, const std::vector<std::string>& parts,
                    const std::function<void(TrainConfig&)>& change) {
  expect_error(code, parts, [&] {
    TrainConfig config;
    change(config);
    resolve_config(config);
  });
}

TEST(ResolveConfig, OpenChoices_SuitTheModel) {
  const TrainConfig images = resolve_config({});
  EXPECT_EQ(images.data, "fashion-mnist");
  EXPECT_EQ(images.optimizer, "sgd");
  EXPECT_EQ(images.backend, "threads");
  EXPECT_GT(*images.momentum, 0);
  EXPECT_EQ(*images.clip_norm, 0);
  EXPECT_TRUE(images.epochs && !images.steps);
  TrainConfig language;
  language.model = "gpt-4x256";
  language.ranks = 1;
  language = resolve_config(language);
  EXPECT_EQ(language.data, "text");
  EXPECT_EQ(language.optimizer, "adamw");
  EXPECT_EQ(language.backend, "single");
  EXPECT_EQ(*language.lr, 1e-3);
  EXPECT_EQ(*language.clip_norm, 1);
  EXPECT_EQ(*language.batch, 8);
}

TEST(ResolveConfig, GivenChoices_Stay) {
  TrainConfig config;
  config.batch = 6;
  config.steps = 5;
  config.lr = 0;
  config.clip_norm = 2;
  config.threads = 3;
  config.optimizer = "adamw";
  config = resolve_config(config);
  EXPECT_EQ(*config.batch, 6);
  EXPECT_EQ(*config.steps, 5);
  EXPECT_FALSE(config.epochs);
  EXPECT_EQ(*config.lr, 0);
  EXPECT_EQ(*config.clip_norm, 2);
  EXPECT_EQ(*config.threads, 3);
  EXPECT_EQ(*config.momentum, 0) << "adamw has no momentum of that kind";
}

TEST(ResolveConfig, AnotherOptimizer_GetsItsOwnRate) {
  TrainConfig config;
  config.optimizer = "adamw";
  EXPECT_LT(*resolve_config(config).lr, 0.01);
}

TEST(ResolveConfig, OpenBatch_IsOneThatTheRanksCanSplit) {
  for (const int ranks : {1, 2, 3, 7, 100}) {
    TrainConfig config;
    config.ranks = ranks;
    EXPECT_EQ(*resolve_config(config).batch % ranks, 0) << ranks;
  }
}

TEST(ResolveConfig, Resolved_StaysAsItIs) {
  const TrainConfig once = resolve_config({});
  const TrainConfig twice = resolve_config(once);
  EXPECT_EQ(*once.batch, *twice.batch);
  EXPECT_EQ(*once.threads, *twice.threads);
  EXPECT_EQ(once.epochs, twice.epochs);
}

TEST(ResolveConfig, BatchThatRanksCannotSplit_NamesTheNearest) {
  expect_refused(ErrorCode::InvalidArgument, {"--batch 33", "2 ranks", "32 and 34"}, [](auto& c) { c.batch = 33; });
  expect_refused(ErrorCode::InvalidArgument, {"--batch 1 ", "4 ranks", "; 4 can"}, [](auto& c) {
    c.batch = 1;
    c.ranks = 4;
  });
  expect_refused(ErrorCode::InvalidArgument, {"--batch 0"}, [](auto& c) { c.batch = 0; });
  expect_refused(ErrorCode::InvalidArgument, {"--batch -2"}, [](auto& c) { c.batch = -2; });
}

TEST(ResolveConfig, NumbersThatCannotWork_AreRefusedByFlag) {
  const auto invalid = ErrorCode::InvalidArgument;
  expect_refused(invalid, {"--ranks 0", "1 to"}, [](auto& c) { c.ranks = 0; });
  expect_refused(invalid, {"--ranks -1"}, [](auto& c) { c.ranks = -1; });
  expect_refused(invalid, {"--ranks 100000"}, [](auto& c) { c.ranks = 100000; });
  expect_refused(invalid, {"--threads 0"}, [](auto& c) { c.threads = 0; });
  expect_refused(invalid, {"--steps 0"}, [](auto& c) { c.steps = 0; });
  expect_refused(invalid, {"--epochs -1"}, [](auto& c) { c.epochs = -1; });
  expect_refused(invalid, {"--steps", "--epochs"}, [](auto& c) {
    c.steps = 1;
    c.epochs = 1;
  });
  expect_refused(invalid, {"--lr -1"}, [](auto& c) { c.lr = -1; });
  expect_refused(invalid, {"--lr nan"}, [](auto& c) { c.lr = std::nan(""); });
  expect_refused(invalid, {"--clip-norm inf"}, [](auto& c) { c.clip_norm = std::numeric_limits<double>::infinity(); });
  expect_refused(invalid, {"--warmup -1"}, [](auto& c) { c.warmup = -1; });
  expect_refused(invalid, {"--prefetch -1"}, [](auto& c) { c.prefetch = -1; });
  expect_refused(invalid, {"--deadline 0"}, [](auto& c) { c.deadline_s = 0; });
  expect_refused(invalid, {"--deadline nan"}, [](auto& c) { c.deadline_s = std::nan(""); });
  expect_refused(invalid, {"--memory-limit 0"}, [](auto& c) { c.memory_limit = 0; });
  expect_refused(invalid, {"momentum"}, [](auto& c) { c.momentum = 1.5; });
  expect_refused(invalid, {"--momentum 0.5", "adamw", "sgd"}, [](auto& c) {
    c.momentum = 0.5;
    c.optimizer = "adamw";
  });
  expect_refused(invalid, {"weight_decay"}, [](auto& c) { c.weight_decay = -1; });
}

TEST(ResolveConfig, CountsThatWouldOverflow_AreRefusedByFlag) {
  const auto invalid = ErrorCode::InvalidArgument;
  for (const std::int64_t count : {(std::int64_t{1} << 40) + 2, std::numeric_limits<std::int64_t>::max()}) {
    const std::string said = " " + std::to_string(count) + " is out of range";
    expect_refused(invalid, {"--batch" + said}, [&](auto& c) { c.batch = count; });
    expect_refused(invalid, {"--steps" + said}, [&](auto& c) { c.steps = count; });
    expect_refused(invalid, {"--epochs" + said}, [&](auto& c) { c.epochs = count; });
    expect_refused(invalid, {"--warmup" + said}, [&](auto& c) { c.warmup = count; });
  }
  TrainConfig config;
  config.steps = std::int64_t{1} << 40;
  EXPECT_EQ(run_length_of(resolve_config(config), 40).total_steps, std::int64_t{1} << 40);
}

TEST(ResolveConfig, UnknownNames_GetTheNearest) {
  const auto invalid = ErrorCode::InvalidArgument;
  expect_refused(invalid, {"resnet8", "resnet9"}, [](auto& c) { c.model = "resnet8"; });
  expect_refused(invalid, {"--data", "'txet'", "text"}, [](auto& c) { c.data = "txet"; });
  expect_refused(invalid, {"--strategy", "'ful'", "full"}, [](auto& c) { c.strategy = "ful"; });
  expect_refused(invalid, {"--backend", "'thread'", "threads"}, [](auto& c) { c.backend = "thread"; });
  expect_refused(invalid, {"--dtype", "'fp23'", "fp32"}, [](auto& c) { c.dtype = "fp23"; });
  expect_refused(invalid, {"--device", "'hots'", "host"}, [](auto& c) { c.device = "hots"; });
  expect_refused(invalid, {"optimizer", "'adamv'", "adamw"}, [](auto& c) { c.optimizer = "adamv"; });
  expect_refused(invalid, {"'cosin'", "cosine"}, [](auto& c) { c.lr_schedule = "cosin"; });
  expect_refused(invalid, {"--wrap", "'blok'", "block"}, [](auto& c) { c.wrap = "blok"; });
}

TEST(ResolveConfig, WhatThisBuildLacks_IsUnsupportedByName) {
  const auto unsupported = ErrorCode::Unsupported;
  expect_refused(unsupported, {"--dtype bf16", "fp32"}, [](auto& c) { c.dtype = "bf16"; });
  expect_refused(unsupported, {"--dtype fp16"}, [](auto& c) { c.dtype = "fp16"; });
  expect_refused(unsupported, {"--strategy gradients", "none, full"}, [](auto& c) { c.strategy = "gradients"; });
  expect_refused(unsupported, {"--strategy hybrid"}, [](auto& c) { c.strategy = "hybrid"; });
  expect_refused(unsupported, {"--backend gloo", "single, threads"}, [](auto& c) { c.backend = "gloo"; });
  expect_refused(unsupported, {"--backend nccl"}, [](auto& c) { c.backend = "nccl"; });
  expect_refused(unsupported, {"--device cuda", "host"}, [](auto& c) { c.device = "cuda"; });
  expect_refused(unsupported, {"--wrap size"}, [](auto& c) { c.wrap = "size"; });
}

TEST(NameChoices, BackendsHere_AreThoseOfTheBuild) {
  const NameChoice& backends = name_choices()[1];
  EXPECT_EQ(backends.flag, "backend");
  const std::vector<std::string> built = collectives::backend_names();
  EXPECT_EQ(std::vector<std::string>(backends.here.begin(), backends.here.end()), built);
}

TEST(ResolveConfig, CombinationsThatCannotWork_AreRefused) {
  expect_refused(ErrorCode::InvalidArgument, {"--backend single", "1 rank"}, [](auto& c) { c.backend = "single"; });
  expect_refused(ErrorCode::InvalidArgument, {"takes images"}, [](auto& c) { c.data = "text"; });
  expect_refused(ErrorCode::InvalidArgument, {"--wrap"}, [](auto& c) { c.wrap = "block:Linear"; });
  expect_refused(ErrorCode::InvalidArgument, {"--wrap type"}, [](auto& c) { c.wrap = "type:"; });
}

TEST(PoliciesOf, WrapTypes_AreSplitAtCommas) {
  TrainConfig config;
  config.wrap = "type:Linear,Conv2d";
  config.prefetch = 3;
  const fsdp::Policies policies = policies_of(resolve_config(config));
  EXPECT_EQ(policies.wrap_types, (std::vector<std::string>{"Linear", "Conv2d"}));
  EXPECT_EQ(policies.prefetch, 3);
  EXPECT_TRUE(policies_of(resolve_config({})).wrap_types.empty());
}

TEST(RunLengthOf, EpochsAndSteps) {
  TrainConfig config;
  config.epochs = 3;
  EXPECT_EQ(run_length_of(resolve_config(config), 40).total_steps, 120);
  config.epochs.reset();
  config.steps = 7;
  const RunLength length = run_length_of(resolve_config(config), 40);
  EXPECT_EQ(length.total_steps, 7);
  EXPECT_EQ(length.steps_per_epoch, 40);
}

TEST(RunLengthOf, EveryRun_HasALearningRateInEachStep) {
  for (const char* schedule : {"constant", "linear", "cosine", "steps"}) {
    for (const std::int64_t steps : {1, 2, 3, 20}) {
      TrainConfig config;
      config.lr_schedule = schedule;
      config.steps = steps;
      const RunLength length = run_length_of(resolve_config(config), 40);
      for (std::int64_t step = 1; step <= steps; ++step) {
        const double lr = optim::lr_at(length.schedule, 1, step);
        EXPECT_TRUE(lr >= 0 && lr <= 1) << schedule << " " << steps << " " << step << " " << lr;
      }
    }
  }
}

TEST(RunLengthOf, WarmupLongerThanTheRun_IsRefused) {
  TrainConfig config;
  config.steps = 10;
  config.warmup = 10;
  expect_error(ErrorCode::InvalidArgument, {"--warmup 10", "10 steps", "at most 9"},
               [&] { run_length_of(resolve_config(config), 40); });
}

}  // namespace
}  // namespace shoal::train
