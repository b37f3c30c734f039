#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shoal/nn/parameter.h"
#include "shoal/runtime/fsdp/rank_state.h"

namespace shoal::fsdp {

/// Where the parameter of this name lives. Throws InvalidArgument for an unknown name.
ParameterPlace find_parameter(const UnitTable& units, const std::string& name);

/// One parameter's values, gathered to the host through the arena. Collective; nothing may be enqueued.
std::vector<float> read_parameter(RankState& rank, const ParameterPlace& place);

struct StateHashes {
  std::uint64_t weights = 0;
  std::uint64_t state = 0;
};

/// weights: XXH64 over the XXH64s of every parameter's bytes, in name order. state: the same over those hashes, then
/// each parameter's optimizer state in name order, then state buffers in name order. Padding counts for nothing, so
/// that the hashes of two strategies or world sizes are comparable. Collective; nothing may be enqueued; holds one flat
/// parameter at a time, in the arena.
StateHashes hash_state(RankState& rank, const std::vector<nn::StateBuffer*>& state_buffers);

}  // namespace shoal::fsdp
