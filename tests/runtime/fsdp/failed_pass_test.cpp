#include <gtest/gtest.h>

#include "shoal/nn/linear.h"
#include "shoal/nn/model.h"
#include "shoal/runtime/base/error.h"
#include "shoal/tests/support/sharded/workloads.h"

namespace shoal::test {
namespace {

/// Eight layers; the call of one of them throws when told to, or the model keeps what it computed.
class Fragile final : public nn::Model {
 public:
  explicit Fragile(std::int64_t width) : Model("Fragile") {
    for (int i = 0; i < kLayers; ++i) {
      layers_.push_back(std::make_unique<nn::Linear>(this, "layer" + std::to_string(i), width, width));
      layers_.back()->mark_unit();
    }
  }
  nn::Variable predict(nn::Context& ctx, const Tensor& inputs) override {
    nn::Variable x = nn::constant(inputs);
    for (int i = 0; i < kLayers; ++i) {
      if (i == breaks_at) fail(ErrorCode::Unsupported, "[fragile] layer 4 breaks");
      x = (*layers_[static_cast<std::size_t>(i)])(ctx, x);
    }
    if (keeps) kept_ = x;
    return x;
  }

  static constexpr int kLayers = 8;
  int breaks_at = -1;
  bool keeps = false;

 private:
  nn::Variable kept_;
  std::vector<std::unique_ptr<nn::Linear>> layers_;
};

ShardedRun fragile_run(int ranks, std::int64_t width) {
  ShardedRun run = run_of(small_workload("mlp"), ranks);
  run.make_model = [width] { return std::make_unique<Fragile>(width); };
  run.make_batch = [width](std::int64_t step) {
    HostBatch batch = random_vectors(static_cast<std::uint64_t>(step), 12, width);
    batch.targets.assign(12, 1);
    batch.targets_shape = {12};
    batch.targets_dtype = DType::I32;
    return batch;
  };
  run.policies.prefetch = 2;
  run.evaluates = true;
  run.predicts = true;
  return run;
}

void break_model(RankView& view) { static_cast<Fragile&>(view.model).breaks_at = 4; }

/// What `call` throws.
std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

/// A step after which all ranks are known to have made their model. A rank that is late may hear of what comes next.
void first_step(RankView& view, const ShardedRun& run) {
  view.sharded.train_step(view.load(0), run.settings);
  view.sharded.finish();
}

/// Steps until one throws; the others learn of it when they read a report.
std::string train_until_error(RankView& view, const ShardedRun& run) {
  return error_of([&] {
    first_step(view, run);
    for (std::int64_t step = 0; step < 4; ++step) {
      if (step == 1 && view.rank == 1) break_model(view);
      view.sharded.train_step(view.load(step), run.settings);
    }
    view.sharded.finish();
  });
}

TEST(FailedPass, AnExceptionInOneRanksForward_ReachesAllRanksWithItsText) {
  const ShardedRun run = fragile_run(3, 8);
  run_on_ranks(run, [&](RankView& view) {
    const std::string error = train_until_error(view, run);
    EXPECT_NE(error.find("[fragile] layer 4 breaks"), std::string::npos) << "rank " << view.rank << ": " << error;
    EXPECT_EQ(error.find("aborted by rank 1") != std::string::npos, view.rank != 1) << error;
  });
}

TEST(FailedPass, LaterCalls_ThrowTheCauseAgain) {
  const ShardedRun run = fragile_run(2, 8);
  run_on_ranks(run, [&](RankView& view) {
    const std::string cause = train_until_error(view, run);
    static_cast<Fragile&>(view.model).breaks_at = -1;
    fsdp::ShardedModel& sharded = view.sharded;
    const nn::Batch batch = view.load(0);
    EXPECT_EQ(error_of([&] { sharded.train_step(batch, run.settings); }), cause);
    EXPECT_EQ(error_of([&] { sharded.finish(); }), cause);
    EXPECT_EQ(error_of([&] { sharded.evaluate(batch); }), cause);
    EXPECT_EQ(error_of([&] { sharded.predict(batch.inputs); }), cause);
    EXPECT_EQ(error_of([&] { sharded.hashes(); }), cause);
    EXPECT_EQ(error_of([&] { sharded.read_parameter("layer0.weight"); }), cause);
  });
}

TEST(FailedPass, NothingThatThePassHeld_IsLeftInTheLedger) {
  for (const bool trains : {true, false}) {
    const ShardedRun run = fragile_run(2, 8);
    run_on_ranks(run, [&](RankView& view) {
      const std::string error = error_of([&] {
        first_step(view, run);
        break_model(view);
        const nn::Batch batch = view.load(0);
        trains ? (void)view.sharded.train_step(batch, {}) : (void)view.sharded.evaluate(batch);
      });
      EXPECT_NE(error.find("[fragile] layer 4 breaks"), std::string::npos) << error;
      EXPECT_EQ(view.device.scope(), nullptr);  // units' names go with the model
      for (const MemoryTag tag : {MemoryTag::UnshardedParameters, MemoryTag::UnshardedGradients, MemoryTag::Activations,
                                  MemoryTag::Workspace}) {
        EXPECT_EQ(view.device.ledger().live()[tag], 0) << memory_tag_name(tag);
      }
    });
  }
}

TEST(FailedPass, AVariableThatOutlivesItsPass_IsRefusedByName_AndGoesLater) {
  const ShardedRun run = fragile_run(2, 8);
  run_on_ranks(run, [&](RankView& view) {
    const std::string error = error_of([&] {
      first_step(view, run);
      static_cast<Fragile&>(view.model).keeps = true;
      view.sharded.evaluate(view.load(0));
    });
    EXPECT_NE(error.find("its memory"), std::string::npos) << error;
    EXPECT_EQ(view.device.ledger().live()[MemoryTag::Activations], 0);
  });  // the model, and what it keeps, goes after what sharded it
}

TEST(FailedPass, UnwindingWhilePeersGather_LeavesThemTheShardsUntilTheyAreStopped) {
  // Shards large enough that peers are in the middle of copying one; what a sanitizer would see is a read of freed
  // memory.
  const ShardedRun run = fragile_run(3, 256);
  const std::vector<std::string> errors = errors_on_ranks(run, [&](RankView& view) {
    first_step(view, run);
    if (view.rank == 1) break_model(view);
    for (std::int64_t step = 1; step < 4; ++step) view.sharded.train_step(view.load(step), run.settings);
    view.sharded.finish();
  });
  for (const std::string& error : errors) {
    EXPECT_NE(error.find("[fragile] layer 4 breaks"), std::string::npos) << error;
  }
}

TEST(FailedPass, ARankThatLeavesWithoutAWord_IsNamedToTheOthers) {
  const ShardedRun run = fragile_run(2, 256);
  const std::vector<std::string> errors = errors_on_ranks(run, [&](RankView& view) {
    first_step(view, run);
    if (view.rank == 1) return;
    for (std::int64_t step = 1; step < 4; ++step) view.sharded.train_step(view.load(step), run.settings);
    view.sharded.finish();
  });
  EXPECT_NE(errors[0].find("rank 1"), std::string::npos) << errors[0];
  EXPECT_NE(errors[0].find("has left"), std::string::npos) << errors[0];
  EXPECT_EQ(errors[1], "");
}

}  // namespace
}  // namespace shoal::test
