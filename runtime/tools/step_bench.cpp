#include "shoal/runtime/tools/step_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "shoal/kernels/fill.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/fsdp/sharded_model.h"
#include "shoal/runtime/tools/machine_info.h"
#include "shoal/runtime/tools/product_timer.h"
#include "shoal/runtime/train/input_ring.h"
#include "shoal/runtime/train/launcher.h"
#include "shoal/runtime/train/run_setup.h"
#include "shoal/runtime/train/synthetic_dataset.h"

namespace shoal::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLearningRate = 1e-3;
constexpr double kWeightDecay = 0.01;  // PyTorch's default, which the peers use

// What one rank found.
struct RankResult {
  std::vector<double> step_seconds;  // of the measured steps
  double first_loss = 0;
  double last_loss = 0;
  std::int64_t parameters = 0;
  MemoryBytes peak;
  double product_seconds = 0;  // of all products of one step
  std::uint64_t verified_hash = 0;
};

struct SharedBench {
  Workload workload;
  StepBenchOptions options;
  train::ModelSetup setup;
  std::vector<RankResult> results;  // by rank
};

train::ModelSetup bench_setup(const Workload& workload, const StepBenchOptions& options) {
  train::ModelSetup setup;
  setup.model = workload.model;
  setup.inputs = workload.inputs;
  setup.optimizer = "adamw";
  setup.rule.weight_decay = kWeightDecay;
  setup.ranks = options.ranks;
  setup.threads = options.threads;
  setup.shard.policies.strategy = fsdp::parse_strategy(options.strategy);
  setup.shard.train_batch = train::batch_spec(workload.sample, workload.batch);
  return setup;
}

// A batch of this rank's own, the same in every step.
void fill_batch(const Workload& workload, int rank, const nn::Batch& batch) {
  train::SyntheticDataset::Options options;
  options.train_size = workload.batch;
  options.seed = static_cast<std::uint64_t>(rank) + 1;
  const train::SyntheticDataset dataset(workload.sample, options);
  std::vector<train::SampleRef> samples(static_cast<std::size_t>(workload.batch));
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].index = static_cast<std::int64_t>(i);
  dataset.fill_batch(train::Split::Train, samples, batch.inputs, batch.targets);
}

void measure_steps(const SharedBench& bench, train::RankContext& rank, RankResult& result) {
  const std::unique_ptr<nn::Model> model = train::make_model(bench.setup);
  const train::InputRing inputs(rank.device, bench.setup.shard.train_batch, 1);
  fill_batch(bench.workload, rank.rank, inputs.slot(0));
  fsdp::ShardedModel sharded(*model, rank.device, rank.world, optim::make_rule(bench.setup.optimizer, bench.setup.rule),
                             bench.setup.shard);
  const std::unique_ptr<Stream> stream = rank.device.make_stream(StreamRole::Compute, "bench");
  train::run_or_abort(rank, [&] {
    const std::int64_t num_steps = bench.options.warmup + bench.options.steps;
    for (std::int64_t step = 0; step < num_steps; ++step) {
      rank.world.barrier(*stream);
      stream->synchronize();
      const Clock::time_point begin = Clock::now();
      sharded.train_step(inputs.slot(0), {.lr = kLearningRate});
      const std::optional<fsdp::StepReport> report = sharded.finish();
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      if (!report) fail(ErrorCode::Internal, fmt::format("[bench] step {} left no report", step));
      if (step == 0) result.first_loss = report->mean_loss();
      if (step >= bench.options.warmup) result.step_seconds.push_back(seconds);
      result.last_loss = report->mean_loss();
      if (step + 1 == kVerifiedSteps) result.verified_hash = sharded.hashes().state;
    }
  });
  result.parameters = sharded.num_parameters();
  result.peak = rank.device.ledger().peak();
}

void run_rank(SharedBench& bench, train::RankContext& rank) {
  RankResult& result = bench.results[static_cast<std::size_t>(rank.rank)];
  measure_steps(bench, rank, result);
  train::run_or_abort(rank, [&] {
    for (const Product& product : bench.workload.products) {
      result.product_seconds += static_cast<double>(product.per_step) * time_product(rank, product);
    }
  });
}

// The middle one, or the mean of the middle two.
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double items_per_batch(const Workload& workload) {
  return static_cast<double>(workload.batch * (workload.sample.num_classes > 0 ? workload.sample.targets.numel() : 1));
}

BenchRow make_row(const SharedBench& bench, std::int64_t num_units) {
  const RankResult& first = bench.results.front();
  const double step_seconds = median(first.step_seconds);
  BenchRow row;
  row.workload = bench.workload.name;
  row.strategy = bench.options.strategy;
  row.dtype = "fp32";
  row.world = bench.options.ranks;
  row.threads = bench.options.threads;
  row.step_ms = step_seconds * 1e3;
  row.min_ms = *std::min_element(first.step_seconds.begin(), first.step_seconds.end()) * 1e3;
  row.items_per_s = items_per_batch(bench.workload) * bench.options.ranks / step_seconds;
  row.units = num_units;
  row.peak_rss_mib = static_cast<double>(peak_resident_bytes()) / (1 << 20);
  row.parameters = first.parameters;
  row.loss = {first.first_loss, first.last_loss};
  row.host_us_per_unit = step_seconds * 1e6 / static_cast<double>(num_units);
  row.gemm_share = first.product_seconds / step_seconds;
  for (const RankResult& result : bench.results) row.peak_bytes.push_back(result.peak);
  return row;
}

std::shared_ptr<SharedBench> make_bench(const Workload& workload, const StepBenchOptions& options) {
  const auto bench = std::make_shared<SharedBench>();
  bench->workload = workload;
  bench->options = options;
  bench->setup = bench_setup(workload, options);
  bench->results.resize(static_cast<std::size_t>(options.ranks));
  return bench;
}

void launch(const SharedBench& bench, const train::RankBody& body) {
  const StepBenchOptions& options = bench.options;
  RuntimeOptions runtime;
  runtime.threads_per_rank = options.threads;
  runtime.deadline = options.deadline;
  const train::LaunchOptions ranks{
      .num_ranks = options.ranks, .backend = options.ranks == 1 ? "single" : "threads", .device = DeviceKind::Host};
  train::launch_ranks(Runtime(runtime), ranks, body);
}

// Runs the first steps again under the other strategy.
void check_same_bits(const SharedBench& bench) {
  StepBenchOptions options = bench.options;
  options.strategy = options.strategy == "none" ? "full" : "none";
  options.warmup = 0;
  options.steps = kVerifiedSteps;
  const auto other = make_bench(bench.workload, options);
  launch(*other, [other](train::RankContext& rank) {
    measure_steps(*other, rank, other->results[static_cast<std::size_t>(rank.rank)]);
  });
  for (std::size_t rank = 0; rank < bench.results.size(); ++rank) {
    const std::uint64_t hash = bench.results[rank].verified_hash;
    const std::uint64_t other_hash = other->results[rank].verified_hash;
    if (hash == other_hash) continue;
    fail(ErrorCode::Internal,
         fmt::format("[bench] {} is not verified: after {} steps rank {} holds {:016x} under {}, but {:016x} under {}",
                     bench.workload.name, kVerifiedSteps, rank, hash, bench.options.strategy, other_hash,
                     options.strategy));
  }
}

}  // namespace

BenchRow run_step_bench(const Workload& workload, const StepBenchOptions& options) {
  if (options.warmup + options.steps < kVerifiedSteps) {
    fail(ErrorCode::InvalidArgument, fmt::format("[bench] {} steps after {} of warm-up; {} together are needed",
                                                 options.steps, options.warmup, kVerifiedSteps));
  }
  const auto bench = make_bench(workload, options);
  const auto num_units = static_cast<std::int64_t>(train::plan_run(bench->setup).units.units.size());
  launch(*bench, [bench](train::RankContext& rank) { run_rank(*bench, rank); });
  const BenchRow row = make_row(*bench, num_units);

  const RankResult& first = bench->results.front();
  if (!(first.last_loss < first.first_loss)) {
    fail(ErrorCode::Internal,
         fmt::format("[bench] {} did not learn: its loss went from {} to {} in {} steps", workload.name,
                     first.first_loss, first.last_loss, options.warmup + options.steps));
  }
  check_same_bits(*bench);
  return row;
}

}  // namespace shoal::tools
