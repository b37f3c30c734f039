#include "shoal/runtime/train/run_setup.h"

#include <fmt/format.h>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/train/data_registry.h"
#include "shoal/runtime/train/input_ring.h"

namespace shoal::train {

std::int64_t input_bytes(const ModelSetup& setup) {
  const std::int64_t ring = kInputSlots * batch_bytes(setup.shard.train_batch);
  return ring + (setup.shard.predict_batch ? batch_bytes(*setup.shard.predict_batch) : 0);
}

MemoryBytes with_inputs(const MemoryBytes& model, const ModelSetup& setup) {
  MemoryBytes bytes = model;
  bytes.by_tag[static_cast<std::size_t>(MemoryTag::Inputs)] += input_bytes(setup);
  bytes.total += input_bytes(setup);
  return bytes;
}

ModelSetup model_setup(const TrainConfig& config, const SampleSpec& sample, bool predicts) {
  ModelSetup setup;
  setup.model = config.model;
  setup.inputs = model_inputs_for(sample);
  setup.optimizer = config.optimizer;
  setup.rule = rule_options_of(config);
  setup.ranks = config.ranks;
  setup.threads = *config.threads;
  setup.shard.policies = policies_of(config);
  setup.shard.train_batch = batch_spec(sample, *config.batch / config.ranks);
  setup.shard.evaluate_batch = setup.shard.train_batch;
  if (predicts) setup.shard.predict_batch = batch_spec(sample, 1);
  setup.shard.seed = config.seed;
  return setup;
}

void check_memory_limit(const TrainConfig& config, const MemoryBytes& predicted) {
  if (!config.memory_limit || predicted.total <= *config.memory_limit) return;
  std::string tags;
  for (int index = 0; index < kNumMemoryTags; ++index) {
    const auto tag = static_cast<MemoryTag>(index);
    if (predicted[tag] == 0) continue;
    tags += fmt::format("{}{} {}", tags.empty() ? "" : ", ", memory_tag_name(tag), predicted[tag]);
  }
  fail(ErrorCode::InvalidArgument,
       fmt::format("[config] --memory-limit {}; the plan needs {} bytes per rank at once (at their own peaks: {}); a "
                   "smaller --batch or more --ranks{} would lower that",
                   *config.memory_limit, predicted.total, tags,
                   config.strategy == "none" ? " with --strategy full" : ""));
}

std::unique_ptr<nn::Model> make_model(const ModelSetup& setup) { return nn::make_model(setup.model, setup.inputs); }

fsdp::PlannedModel plan_run(const ModelSetup& setup) {
  const std::unique_ptr<nn::Model> model = make_model(setup);
  const int num_state_tensors = optim::make_rule(setup.optimizer, setup.rule)->num_state_tensors();
  return fsdp::plan_model(*model, setup.shard, setup.ranks, setup.threads, num_state_tensors);
}

}  // namespace shoal::train
