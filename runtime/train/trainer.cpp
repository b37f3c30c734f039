#include "shoal/runtime/train/trainer.h"

#include <fmt/format.h>

#include <thread>

#include "shoal/runtime/train/rank_trainer.h"

namespace shoal::train {
namespace {

// Others may be one iteration ahead of rank 0: a step returns the report of the one before it, which holds sums over
// all ranks, so nobody begins step k + 2 before rank 0 has begun step k. Evaluations return their own sums.
constexpr int kMaxLead = 1;

RuntimeOptions runtime_options(const TrainConfig& config, const TrainOptions& options) {
  RuntimeOptions runtime;
  runtime.log = options.log;
  runtime.stop = options.stop;
  runtime.threads_per_rank = *config.threads;
  runtime.deadline = deadline_of(config);
  if (config.memory_limit) runtime.memory_limit_bytes = *config.memory_limit;
  return runtime;
}

void warn_of_crowding(const TrainConfig& config, TrainListener& listener) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  const int threads = config.ranks * *config.threads;
  if (cores == 0 || threads <= cores) return;
  listener.on_warning(
      fmt::format("{} ranks with {} workers each on {} cores: they take turns, and each step takes "
                  "longer than it would with {}",
                  config.ranks, *config.threads, cores, cores));
}

// Rank 0's summary with the memory of all.
TrainSummary merge_summaries(const std::vector<TrainSummary>& by_rank) {
  TrainSummary merged = by_rank.front();
  for (std::size_t rank = 1; rank < by_rank.size(); ++rank) {
    merged.peak_bytes.push_back(by_rank[rank].peak_bytes.front());
    merged.predicted_bytes.push_back(by_rank[rank].predicted_bytes.front());
  }
  return merged;
}

}  // namespace

TrainSummary run_training(const TrainConfig& config, std::shared_ptr<const Dataset> dataset, TrainListener& listener,
                          const TrainOptions& options) {
  const bool writes_text = options.sample_length > 0 && is_text(dataset->sample());
  const ModelSetup setup = model_setup(config, dataset->sample(), writes_text);
  const Sampler sampler(*dataset, config.seed, *config.batch);
  const RunLength length = run_length_of(config, sampler.steps_per_epoch());
  const fsdp::PlannedModel planned = plan_run(setup);
  check_memory_limit(config, with_inputs(planned.predicted, setup));
  const StartEvent start{config,
                         dataset->item_name(),
                         planned.num_parameters(),
                         length.total_steps,
                         length.steps_per_epoch,
                         planned.fingerprint()};
  listener.on_start(start);
  warn_of_crowding(config, listener);

  const auto run = std::shared_ptr<SharedRun>(new SharedRun{.config = config,
                                                            .dataset = dataset,
                                                            .setup = setup,
                                                            .length = length,
                                                            .sampler = sampler,
                                                            .plan_fingerprint = start.plan_fingerprint,
                                                            .sample_length = options.sample_length,
                                                            .listener = &listener,
                                                            .stop = StopAgreement(options.stop, kMaxLead),
                                                            .summaries = {}});
  run->summaries.resize(static_cast<std::size_t>(config.ranks));
  const LaunchOptions launch{.num_ranks = config.ranks, .backend = config.backend, .device = DeviceKind::Host};
  launch_ranks(Runtime(runtime_options(config, options)), launch, [run](RankContext& rank) {
    RankTrainer trainer(*run, rank);
    run_or_abort(rank, [&] { trainer.train(); });
  });
  TrainSummary summary = merge_summaries(run->summaries);
  listener.on_done(summary);
  return summary;
}

}  // namespace shoal::train
