#include "shoal/runtime/fsdp/initial_shards.h"

#include "shoal/nn/initial_values.h"

namespace shoal::fsdp {
namespace {

void fill_part(RankState& rank, const ShardOptions& options, const nn::Parameter& parameter, std::int64_t first,
               const Tensor& values) {
  Stream& stream = *rank.streams.compute;
  if (!options.initial_values) return nn::fill_initial(stream, parameter, options.seed, first, values);
  // Values of the caller's own are needed on the host once; they are copied before the next ones come.
  rank.host.values.resize(static_cast<std::size_t>(values.numel()));
  options.initial_values(parameter, first, rank.host.values);
  stream.copy(values.data(), rank.host.values.data(), values.num_bytes());
  stream.synchronize();
}

void make_shard(RankState& rank, const FlatParameter& flat, const ShardOptions& options,
                const std::vector<nn::Parameter*>& parameters) {
  Stream& stream = *rank.streams.compute;
  // In its place before anything is enqueued on it, so that an exception leaves it alive until the streams are drained.
  FlatState& state = rank.flats.emplace_back();
  state.storage =
      std::make_unique<FlatStorage>(rank.device, stream, flat,
                                    FlatStorage::Options{.rank = rank.rank,
                                                         .is_sharded = rank.is_sharded,
                                                         .num_state_tensors = rank.rule->num_state_tensors(),
                                                         .padding = rank.padding});
  state.storage->materialise([&](int index, std::int64_t first, const Tensor& values) {
    fill_part(rank, options, *parameters[static_cast<std::size_t>(index)], first, values);
  });
  state.slices = state.storage->update_slices(*rank.rule);
  if (rank.is_sharded) {
    state.window = rank.gather_comm->expose(state.storage->weights());
    rank.gather_comm->publish(stream, state.window, ++state.version);
  } else {
    state.values = state.storage->weights();
    state.gradients = state.storage->gradients();
  }
}

}  // namespace

void make_initial_shards(RankState& rank, nn::Model& model, const ShardOptions& options,
                         std::span<const int> staged_states) {
  rank.flats.reserve(rank.units.flats.size());
  for (const FlatParameter& flat : rank.units.flats) make_shard(rank, flat, options, model.parameters());
  rank.state = std::make_unique<StateStorage>(rank.device, *rank.streams.compute, model.state_buffers(), staged_states);
  rank.streams.compute->synchronize();
}

}  // namespace shoal::fsdp
