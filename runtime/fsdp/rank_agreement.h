#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "shoal/runtime/fsdp/planned_model.h"
#include "shoal/runtime/fsdp/rank_state.h"
#include "shoal/runtime/fsdp/shard_options.h"

namespace shoal::fsdp {

/// What must be equal on all ranks that shard one model together, and what may differ.
struct RankFacts {
  static constexpr std::array<std::string_view, 5> kNames = {"the model", "the policies", "the optimizer's rule",
                                                             "the seed of the initial weights", "the plans"};
  std::array<std::uint64_t, kNames.size()> hashes{};  // of what kNames says
  std::uint64_t num_items = 0;                        // targets in this rank's training batch
};

/// The facts of one rank. Of plans, what communication needs counts: operations in their order. Activations, and hence
/// places and waits, follow the batch, which may have another size on each rank.
RankFacts facts_of(const PlannedModel& planned, const ShardOptions& options, const optim::Rule& rule);

/// Bytes of the arena that `agree` works in.
std::int64_t agreement_bytes(int world_size);

/// Compares facts over all ranks and returns the items in the global batch. Throws InvalidArgument on every rank,
/// naming the first rank that differs from rank 0, and in what. Collective; nothing may be enqueued.
std::int64_t agree(RankState& rank, const RankFacts& own);

}  // namespace shoal::fsdp
