#include "shoal/tests/support/sharded/sharded_run.h"

#include <bit>
#include <cstring>

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

Shape slice_of(const Shape& shape, int ranks) {
  std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims[0] /= ranks;
  return Shape(std::span<const std::int64_t>(dims));
}

nn::BatchSpec spec_of(const HostBatch& batch, int ranks) {
  return {slice_of(batch.inputs_shape, ranks), batch.inputs_dtype, slice_of(batch.targets_shape, ranks),
          batch.targets_dtype};
}

/// This rank's slices of a few batches on its device.
class DeviceBatches {
 public:
  DeviceBatches(Device& device, const nn::BatchSpec& spec, int slots) : spec_(spec) {
    for (int i = 0; i < slots; ++i) {
      inputs_.push_back(device.allocate(spec.inputs.numel() * 4, MemoryTag::Inputs));
      targets_.push_back(device.allocate(spec.targets.numel() * 4, MemoryTag::Inputs));
    }
  }

  nn::Batch load(std::int64_t step, const HostBatch& batch, int rank) {
    const auto slot = static_cast<std::size_t>(step) % inputs_.size();
    copy(inputs_[slot], batch.inputs, rank);
    copy(targets_[slot], batch.targets, rank);
    return {Tensor(inputs_[slot].data(), spec_.inputs, spec_.inputs_dtype),
            Tensor(targets_[slot].data(), spec_.targets, spec_.targets_dtype)};
  }

  std::int64_t bytes() const {
    return static_cast<std::int64_t>(inputs_.size()) * 4 * (spec_.inputs.numel() + spec_.targets.numel());
  }

 private:
  static void copy(const Buffer& to, const std::vector<std::uint32_t>& from, int rank) {
    const auto bytes = static_cast<std::size_t>(to.bytes());
    if (bytes > 0) std::memcpy(to.data(), reinterpret_cast<const char*>(from.data()) + rank * to.bytes(), bytes);
  }

  nn::BatchSpec spec_;
  std::vector<Buffer> inputs_;
  std::vector<Buffer> targets_;
};

void run_rank(const ShardedRun& run, Device& device, collectives::Communicator& world, ShardedResult& result) {
  const auto rank = static_cast<std::size_t>(world.rank());
  const HostBatch first = run.make_batch(0);
  const nn::BatchSpec spec = spec_of(first, run.ranks);
  const std::unique_ptr<nn::Model> model = run.make_model();
  DeviceBatches batches(device, spec, 3);
  fsdp::ShardOptions options;
  options.policies = run.policies;
  options.train_batch = spec;
  if (run.evaluates) options.evaluate_batch = spec;
  options.seed = 7;
  if (run.edit_options) run.edit_options(options);
  fsdp::ShardedModel sharded(*model, device, world, run.make_rule(), options);
  if (run.inspect) run.inspect(sharded, device);
  std::vector<fsdp::StepReport> reports;
  for (std::int64_t step = 0; step < run.steps; ++step) {
    const auto report = sharded.train_step(batches.load(step, run.make_batch(step), world.rank()), run.settings);
    if (report) reports.push_back(*report);
  }
  if (const auto report = sharded.finish()) reports.push_back(*report);
  fsdp::StepReport evaluation;
  if (run.evaluates) evaluation = sharded.evaluate(batches.load(0, first, world.rank()));
  result.peak[rank] = device.ledger().peak();
  result.predicted[rank] = sharded.predicted_bytes();
  result.predicted[rank].by_tag[static_cast<std::size_t>(MemoryTag::Inputs)] += batches.bytes();
  result.predicted[rank].total += batches.bytes();
  const fsdp::ShardedModel::Hashes hashes = sharded.hashes();
  if (run.inspect) run.inspect(sharded, device);
  if (rank == 0) {
    result.reports = std::move(reports);
    result.evaluation = evaluation;
    result.hashes = hashes;
  }
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
  auto worlds =
      run.ranks == 1 ? std::vector<std::unique_ptr<collectives::Communicator>>() : collectives::make_threads(run.ranks);
  if (run.ranks == 1) worlds.push_back(collectives::make_single());
  run_ranks(run.ranks, run.runtime, [&](int rank, Device& device) {
    collectives::Communicator& world = *worlds[static_cast<std::size_t>(rank)];
    try {
      run_rank(run, device, world, result);
    } catch (const std::exception& error) {
      world.abort(error.what());
      throw;
    }
  });
  return result;
}

}  // namespace shoal::test
