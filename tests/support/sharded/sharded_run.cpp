#include "shoal/tests/support/sharded/sharded_run.h"

#include <bit>
#include <cstring>
#include <numeric>

#include "shoal/collectives/factory.h"
#include "shoal/runtime/base/counter_rng.h"
#include "shoal/tests/support/rank_threads.h"

namespace shoal::test {
namespace {

std::vector<std::uint32_t> random_ints(std::uint64_t seed, std::uint64_t sequence, std::int64_t count, int bound) {
  std::vector<std::uint32_t> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::uint32_t>(counter_uniform(seed, sequence, i) * static_cast<float>(bound));
  }
  return values;
}

std::vector<std::uint32_t> random_floats(std::uint64_t seed, std::uint64_t sequence, std::int64_t count) {
  std::vector<std::uint32_t> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::bit_cast<std::uint32_t>(counter_normal(seed, sequence, i));
  }
  return values;
}

Shape with_rows(const Shape& shape, std::int64_t rows) {
  std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims[0] = rows;
  return Shape(std::span<const std::int64_t>(dims));
}

/// The rows of a batch that one rank has.
struct Rows {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

Rows rows_of(const ShardedRun& run, const HostBatch& batch, int rank) {
  if (run.rows.empty()) {
    const std::int64_t count = batch.inputs_shape[0] / run.ranks;
    return {rank * count, count};
  }
  return {std::accumulate(run.rows.begin(), run.rows.begin() + rank, std::int64_t{0}),
          run.rows[static_cast<std::size_t>(rank)]};
}

/// This rank's rows of a few batches on its device.
class DeviceBatches {
 public:
  static constexpr int kSlots = 3;

  DeviceBatches(Device& device, const HostBatch& batch, Rows rows)
      : spec_{with_rows(batch.inputs_shape, rows.count), batch.inputs_dtype, with_rows(batch.targets_shape, rows.count),
              batch.targets_dtype},
        rows_(rows) {
    for (int i = 0; i < kSlots; ++i) {
      inputs_.push_back(device.allocate(spec_.inputs.numel() * 4, MemoryTag::Inputs));
      targets_.push_back(device.allocate(spec_.targets.numel() * 4, MemoryTag::Inputs));
    }
  }

  const nn::BatchSpec& spec() const { return spec_; }

  nn::Batch load(std::int64_t step, const HostBatch& batch) {
    const auto slot = static_cast<std::size_t>(step) % inputs_.size();
    copy(inputs_[slot], batch.inputs, rows_.first * (spec_.inputs.numel() / rows_.count));
    copy(targets_[slot], batch.targets, rows_.first * (spec_.targets.numel() / rows_.count));
    return {Tensor(inputs_[slot].data(), spec_.inputs, spec_.inputs_dtype),
            Tensor(targets_[slot].data(), spec_.targets, spec_.targets_dtype)};
  }

  std::int64_t bytes() const {
    return static_cast<std::int64_t>(inputs_.size()) * 4 * (spec_.inputs.numel() + spec_.targets.numel());
  }

 private:
  static void copy(const Buffer& to, const std::vector<std::uint32_t>& from, std::int64_t first) {
    if (to.bytes() > 0) std::memcpy(to.data(), from.data() + first, static_cast<std::size_t>(to.bytes()));
  }

  nn::BatchSpec spec_;
  Rows rows_;
  std::vector<Buffer> inputs_;
  std::vector<Buffer> targets_;
};

/// One rank's model, sharded, and its batches.
struct ShardedRank {
  ShardedRank(const ShardedRun& run, Device& device, collectives::Communicator& world)
      : first(run.make_batch(0)),
        batches(device, first, rows_of(run, first, world.rank())),
        model(run.make_model()),
        sharded(*model, device, world, run.make_rule(), options_of(run)) {}

  fsdp::ShardOptions options_of(const ShardedRun& run) const {
    fsdp::ShardOptions options;
    options.policies = run.policies;
    options.train_batch = batches.spec();
    if (run.evaluates) options.evaluate_batch = batches.spec();
    if (run.predicts) options.predict_batch = batches.spec();
    options.seed = 7;
    if (run.edit_options) run.edit_options(options);
    return options;
  }

  HostBatch first;
  DeviceBatches batches;
  std::unique_ptr<nn::Model> model;
  fsdp::ShardedModel sharded;
};

void run_rank(const ShardedRun& run, Device& device, collectives::Communicator& world, ShardedResult& result) {
  const auto rank = static_cast<std::size_t>(world.rank());
  ShardedRank own(run, device, world);
  fsdp::ShardedModel& sharded = own.sharded;
  if (run.inspect) run.inspect(sharded, device);
  std::vector<fsdp::StepReport> reports;
  fsdp::StepReport evaluation;
  std::vector<float> predictions;
  const auto interrupt = [&](bool predicts_first) {
    // The last slot is for what comes between steps.
    const nn::Batch batch = own.batches.load(2, own.first);
    if (run.predicts && predicts_first) predictions = sharded.predict(batch.inputs);
    if (run.evaluates) evaluation = sharded.evaluate(batch);
    if (run.predicts && !predicts_first) predictions = sharded.predict(batch.inputs);
  };
  for (std::int64_t step = 0; step < run.steps; ++step) {
    const auto report = sharded.train_step(own.batches.load(step % 2, run.make_batch(step)), run.settings);
    if (report) reports.push_back(*report);
    if (run.interrupts) interrupt(step % 2 == 1);
  }
  if (const auto report = sharded.finish()) reports.push_back(*report);
  interrupt(false);
  result.peak[rank] = device.ledger().peak();
  result.predicted[rank] = sharded.predicted_bytes();
  result.predicted[rank].by_tag[static_cast<std::size_t>(MemoryTag::Inputs)] += own.batches.bytes();
  result.predicted[rank].total += own.batches.bytes();
  const fsdp::ShardedModel::Hashes hashes = sharded.hashes();
  if (run.inspect) run.inspect(sharded, device);
  if (rank == 0) {
    result.reports = std::move(reports);
    result.evaluation = evaluation;
    result.predictions = std::move(predictions);
    result.hashes = hashes;
  }
}

void view_rank(const ShardedRun& run, Device& device, collectives::Communicator& world,
               const std::function<void(RankView&)>& body) {
  ShardedRank own(run, device, world);
  RankView view{world.rank(), *own.model, own.sharded, device,
                [&](std::int64_t step) { return own.batches.load(step, run.make_batch(step)); }};
  body(view);
}

/// body(rank, device, world) on every rank. Throws what a rank threw.
void with_worlds(const ShardedRun& run,
                 const std::function<void(int rank, Device& device, collectives::Communicator& world)>& body) {
  auto worlds =
      run.ranks == 1 ? std::vector<std::unique_ptr<collectives::Communicator>>() : collectives::make_threads(run.ranks);
  if (run.ranks == 1) worlds.push_back(collectives::make_single());
  run_ranks(run.ranks, run.runtime, [&](int rank, Device& device) {
    collectives::Communicator& world = *worlds[static_cast<std::size_t>(rank)];
    try {
      body(rank, device, world);
    } catch (const std::exception& error) {
      world.abort(error.what());
      throw;
    }
  });
}

}  // namespace

HostBatch random_images(std::uint64_t seed, std::int64_t batch, const Shape& image, int classes) {
  HostBatch made;
  made.inputs_shape = {batch, image[0], image[1], image[2]};
  made.targets_shape = {batch};
  made.inputs = random_floats(seed, 1, made.inputs_shape.numel());
  made.targets = random_ints(seed, 2, batch, classes);
  return made;
}

HostBatch random_tokens(std::uint64_t seed, std::int64_t batch, std::int64_t sequence, int vocabulary) {
  HostBatch made;
  made.inputs_shape = made.targets_shape = {batch, sequence};
  made.inputs_dtype = DType::I32;
  made.inputs = random_ints(seed, 1, batch * sequence, vocabulary);
  made.targets = random_ints(seed, 2, batch * sequence, vocabulary);
  return made;
}

HostBatch random_vectors(std::uint64_t seed, std::int64_t batch, std::int64_t features) {
  HostBatch made;
  made.inputs_shape = made.targets_shape = {batch, features};
  made.targets_dtype = DType::F32;
  made.inputs = random_floats(seed, 1, batch * features);
  made.targets = random_floats(seed, 2, batch * features);
  return made;
}

ShardedResult run_sharded(const ShardedRun& run) {
  ShardedResult result;
  result.peak.resize(static_cast<std::size_t>(run.ranks));
  result.predicted.resize(static_cast<std::size_t>(run.ranks));
  with_worlds(run,
              [&](int, Device& device, collectives::Communicator& world) { run_rank(run, device, world, result); });
  return result;
}

void run_on_ranks(const ShardedRun& run, const std::function<void(RankView&)>& body) {
  with_worlds(run, [&](int, Device& device, collectives::Communicator& world) { view_rank(run, device, world, body); });
}

std::vector<std::string> errors_on_ranks(const ShardedRun& run, const std::function<void(RankView&)>& body) {
  std::vector<std::string> errors(static_cast<std::size_t>(run.ranks));
  with_worlds(run, [&](int rank, Device& device, collectives::Communicator& world) {
    try {
      view_rank(run, device, world, body);
    } catch (const std::exception& error) {
      errors[static_cast<std::size_t>(rank)] = error.what();
    }
  });
  return errors;
}

}  // namespace shoal::test
