#include "shoal/runtime/fsdp/parameter_reader.h"

#include <fmt/core.h>

#include <map>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/hash.h"

namespace shoal::fsdp {
namespace {

/// The whole of an owned tensor (weights or a state tensor) of one flat parameter, on the host until the next one.
const std::vector<float>& gather_flat(RankState& rank, const FlatParameter& flat, const Tensor& owned) {
  Stream& stream = *rank.streams.gather;
  Tensor full = owned;
  if (rank.is_sharded) {
    full = Tensor(rank.arena.at(0), {flat.layout.full_numel()}, DType::F32);  // no pass runs
    rank.gather_comm->all_gather(stream, owned, full);
  }
  rank.host.values.resize(static_cast<std::size_t>(full.numel()));
  stream.copy(rank.host.values.data(), full.data(), full.num_bytes());
  stream.synchronize();
  return rank.host.values;
}

using NamedHashes = std::map<std::string, std::vector<std::uint64_t>>;

void hash_segments(const FlatLayout& layout, const std::vector<float>& full, NamedHashes& hashes) {
  for (const Segment& segment : layout.segments) {
    hashes[segment.name].push_back(
        hash_bytes(full.data() + segment.offset, static_cast<std::size_t>(segment.numel()) * sizeof(float)));
  }
}

std::uint64_t hash_words(const std::vector<std::uint64_t>& words) {
  return hash_bytes(words.data(), words.size() * sizeof(std::uint64_t));
}

void append(std::vector<std::uint64_t>& words, const NamedHashes& hashes) {
  for (const auto& [name, of_name] : hashes) words.insert(words.end(), of_name.begin(), of_name.end());
}

}  // namespace

ParameterPlace find_parameter(const UnitTable& units, const std::string& name) {
  for (const ParameterPlace& place : units.places) {
    if (units.segment_of(place).name == name) return place;
  }
  fail(ErrorCode::InvalidArgument, fmt::format("[read_parameter] the model has no parameter '{}'", name));
}

std::vector<float> read_parameter(RankState& rank, const ParameterPlace& place) {
  const auto flat = static_cast<std::size_t>(place.flat);
  const std::vector<float>& full = gather_flat(rank, rank.units.flats[flat], rank.flats[flat].storage->weights());
  const Segment& segment = rank.units.segment_of(place);
  const auto begin = full.begin() + segment.offset;
  return {begin, begin + segment.numel()};
}

StateHashes hash_state(RankState& rank, const std::vector<nn::StateBuffer*>& state_buffers) {
  NamedHashes weights;
  NamedHashes optimizer_state;
  for (std::size_t f = 0; f < rank.flats.size(); ++f) {
    const FlatParameter& flat = rank.units.flats[f];
    const FlatStorage& storage = *rank.flats[f].storage;
    hash_segments(flat.layout, gather_flat(rank, flat, storage.weights()), weights);
    for (const Tensor& tensor : storage.state()) {
      hash_segments(flat.layout, gather_flat(rank, flat, tensor), optimizer_state);
    }
  }
  NamedHashes buffers;
  for (const nn::StateBuffer* buffer : state_buffers) {
    const Tensor& running = rank.state->running(buffer->index);
    std::vector<float>& host = rank.host.values;
    host.resize(static_cast<std::size_t>(running.numel()));
    rank.streams.gather->copy(host.data(), running.data(), running.num_bytes());
    rank.streams.gather->synchronize();
    buffers[buffer->name].push_back(hash_bytes(host.data(), host.size() * sizeof(float)));
  }
  std::vector<std::uint64_t> words;
  append(words, weights);
  StateHashes hashes;
  hashes.weights = hash_words(words);
  append(words, optimizer_state);
  append(words, buffers);
  hashes.state = hash_words(words);
  return hashes;
}

}  // namespace shoal::fsdp
