#include "shoal/runtime/train/generate.h"

#include <limits>

#include "shoal/runtime/train/data_registry.h"
#include "shoal/runtime/train/input_ring.h"
#include "shoal/runtime/train/launcher.h"
#include "shoal/runtime/train/run_setup.h"
#include "shoal/tests/runtime/train/expect_error.h"

namespace shoal::train {
namespace {

using test::expect_error;

TEST(PickIndex, EqualLogits_ShareTheInterval) {
  const std::vector<float> logits(4, 2.5f);
  EXPECT_EQ(pick_index(logits, 1, 0.0), 0);
  EXPECT_EQ(pick_index(logits, 1, 0.24), 0);
  EXPECT_EQ(pick_index(logits, 1, 0.26), 1);
  EXPECT_EQ(pick_index(logits, 1, 0.51), 2);
  EXPECT_EQ(pick_index(logits, 1, 0.99), 3);
}

TEST(PickIndex, TemperatureZero_TakesTheFirstLargest) {
  const std::vector<float> logits = {1, 3, 2, 3};
  for (const double uniform : {0.0, 0.5, 0.99}) EXPECT_EQ(pick_index(logits, 0, uniform), 1);
}

TEST(PickIndex, LowTemperature_FavoursTheLargest) {
  const std::vector<float> logits = {0, 1};
  // At temperature 1 the second has 0.73 of the interval, at 0.1 almost all of it.
  EXPECT_EQ(pick_index(logits, 1, 0.2), 0);
  EXPECT_EQ(pick_index(logits, 0.1, 0.2), 1);
}

TEST(PickIndex, LargeLogitsAndMaskedOnes_DoNotOverflow) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(pick_index(std::vector<float>{1e30f, -infinity, 1e30f}, 1, 0.6), 2);
}

TEST(PickIndex, Nonsense_IsRefused) {
  expect_error(ErrorCode::InvalidArgument, {"0 logits"}, [] { pick_index({}, 1, 0.5); });
  const std::vector<float> broken = {0, std::numeric_limits<float>::quiet_NaN()};
  expect_error(ErrorCode::InvalidArgument, {"NaN"}, [&] { pick_index(broken, 1, 0.5); });
  expect_error(ErrorCode::InvalidArgument, {"temperature -1"}, [] { pick_index(std::vector<float>{0}, -1, 0.5); });
}

// What every rank of an untrained model writes.
std::vector<std::string> texts_of(int ranks, const GenerateOptions& options) {
  TrainConfig config;
  config.model = "gpt-1x64";
  config.data = "synthetic";
  config.ranks = ranks;
  config.threads = 1;
  config = resolve_config(config);
  const ModelSetup setup = model_setup(config, expected_sample("synthetic", config.model), true);
  std::vector<std::string> texts(static_cast<std::size_t>(ranks));
  launch_ranks(Runtime(), {.num_ranks = ranks, .backend = config.backend}, [&](RankContext& rank) {
    const auto model = make_model(setup);
    const InputRing window(rank.device, *setup.shard.predict_batch, 1);
    fsdp::ShardedModel sharded(*model, rank.device, rank.world, optim::make_rule(setup.optimizer, setup.rule),
                               setup.shard);
    run_or_abort(rank.world, [&] {
      texts[static_cast<std::size_t>(rank.rank)] = generate_text(sharded, window.slot(0).inputs, options);
      sharded.hashes();  // nobody leaves while another still reads
    });
  });
  return texts;
}

TEST(GenerateText, AllRanksAndAllWorldSizes_WriteTheSame) {
  const GenerateOptions options{.prompt = "abc", .length = 6, .temperature = 1, .seed = 4};
  const std::string alone = texts_of(1, options).front();
  EXPECT_EQ(alone.size(), 6u);
  for (const std::string& text : texts_of(2, options)) EXPECT_EQ(text, alone);
}

TEST(GenerateText, DependsOnSeedAndPrompt) {
  const std::string first = texts_of(1, {.prompt = "abc", .length = 4, .temperature = 1, .seed = 4}).front();
  EXPECT_NE(first, texts_of(1, {.prompt = "abc", .length = 4, .temperature = 1, .seed = 5}).front());
  const std::string greedy = texts_of(1, {.prompt = "abc", .length = 4, .temperature = 0, .seed = 4}).front();
  EXPECT_EQ(greedy, texts_of(1, {.prompt = "abc", .length = 4, .temperature = 0, .seed = 5}).front());
}

TEST(GenerateText, LongPrompt_IsSeenThroughItsEnd) {
  const std::string tail(256, 'x');
  const GenerateOptions options{.prompt = tail, .length = 3, .temperature = 1, .seed = 4};
  GenerateOptions longer = options;
  longer.prompt = "what was long ago" + tail;
  EXPECT_EQ(texts_of(1, options), texts_of(1, longer));
}

}  // namespace
}  // namespace shoal::train
