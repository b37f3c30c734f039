#include "shoal/runtime/fsdp/parameter_reader.h"

#include <fmt/core.h>

#include <map>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/hash.h"

namespace shoal::fsdp {
namespace {

/// The whole of an owned tensor (weights or a state tensor) of one flat parameter, on the host.
std::vector<float> gather_flat(RankState& rank, Strategy strategy, const FlatParameter& flat, const Tensor& owned) {
  Stream& stream = *rank.streams.gather;
  std::vector<float> host(static_cast<std::size_t>(flat.layout.full_numel()));
  if (rank.is_sharded(strategy)) {
    // Outside every pass, so it is neither in the arena nor in the predicted bytes.
    const Buffer buffer = rank.device.reserve(flat.layout.full_numel() * dtype_bytes(DType::F32));
    const Tensor full(buffer.data(), {flat.layout.full_numel()}, DType::F32);
    rank.gather_comm->all_gather(stream, owned, full);
    stream.copy(host.data(), full.data(), full.num_bytes());
    stream.synchronize();
  } else {
    stream.copy(host.data(), owned.data(), owned.num_bytes());
    stream.synchronize();
  }
  return host;
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

std::vector<float> read_parameter(RankState& rank, Strategy strategy, const std::string& name) {
  for (std::size_t f = 0; f < rank.flats.size(); ++f) {
    const FlatParameter& flat = rank.units.flats[f];
    for (const Segment& segment : flat.layout.segments) {
      if (segment.name != name) continue;
      const std::vector<float> full = gather_flat(rank, strategy, flat, rank.flats[f].storage->weights());
      const auto begin = full.begin() + segment.offset;
      return {begin, begin + segment.numel()};
    }
  }
  fail(ErrorCode::InvalidArgument, fmt::format("[read_parameter] the model has no parameter '{}'", name));
}

StateHashes hash_state(RankState& rank, Strategy strategy, const std::vector<nn::StateBuffer*>& state_buffers) {
  NamedHashes weights;
  NamedHashes optimizer_state;
  for (std::size_t f = 0; f < rank.flats.size(); ++f) {
    const FlatParameter& flat = rank.units.flats[f];
    const FlatStorage& storage = *rank.flats[f].storage;
    hash_segments(flat.layout, gather_flat(rank, strategy, flat, storage.weights()), weights);
    for (const Tensor& tensor : storage.state()) {
      hash_segments(flat.layout, gather_flat(rank, strategy, flat, tensor), optimizer_state);
    }
  }
  NamedHashes buffers;
  for (const nn::StateBuffer* buffer : state_buffers) {
    const Tensor& running = rank.state->running(buffer->index);
    std::vector<float> host(static_cast<std::size_t>(running.numel()));
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
