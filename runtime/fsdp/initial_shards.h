#pragma once

#include <span>

#include "shoal/nn/model.h"
#include "shoal/runtime/fsdp/rank_state.h"
#include "shoal/runtime/fsdp/shard_options.h"

namespace shoal::fsdp {

/// Makes what this rank owns of `model`: shards of every flat parameter with their initial values, exposed to peers and
/// published, and state buffers. rank.rule must be set. `staged_states` names the state buffers
/// that training updates. Returns when all of it has been written. Collective. Throws
/// what options.initial_values throws.
void make_initial_shards(RankState& rank, nn::Model& model, const ShardOptions& options,
                         std::span<const int> staged_states);

}  // namespace shoal::fsdp
