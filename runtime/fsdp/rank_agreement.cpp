#include "shoal/runtime/fsdp/rank_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/hash.h"

namespace shoal::fsdp {
namespace {

constexpr std::size_t kNumHashes = RankFacts::kNames.size();
constexpr std::int64_t kNumWords = kNumHashes + 1;

std::uint64_t hash_model(const ModelSpec& model) {
  std::string text;
  for (const ParameterSpec& parameter : model.parameters) {
    text += fmt::format("{} {} {} {}\n", parameter.name, parameter.shape.to_string(), parameter.decays,
                        parameter.is_trainable);
  }
  return hash_text(text + fmt::format("{}", fmt::join(model.state_buffers, " ")));
}

std::uint64_t hash_policies(const Policies& policies) {
  return hash_text(fmt::format("{} {} {}", strategy_name(policies.strategy), policies.prefetch,
                               fmt::join(policies.wrap_types, " ")));
}

std::uint64_t hash_plans(const PlannedModel& planned) {
  std::string text;
  for (const PlannedPass* pass : planned.passes()) {
    text += fmt::format("pass {}\n", static_cast<int>(pass->plan.kind));
    for (const PlanOp& op : pass->plan.ops) text += fmt::format("{} {} {}\n", op_kind_name(op.kind), op.unit, op.flat);
  }
  return hash_text(text);
}

}  // namespace

RankFacts facts_of(const PlannedModel& planned, const ShardOptions& options, const optim::Rule& rule) {
  RankFacts facts;
  facts.hashes = {hash_model(planned.model), hash_policies(options.policies),
                  hash_text(fmt::format("{} {}", rule.name(), rule.num_state_tensors())),
                  hash_text(fmt::format("{} {}", options.seed, static_cast<bool>(options.initial_values))),
                  hash_plans(planned)};
  facts.num_items = static_cast<std::uint64_t>(options.train_batch.targets.numel());
  return facts;
}

std::int64_t agreement_bytes(int world_size) {
  return world_size * kNumWords * static_cast<std::int64_t>(sizeof(std::uint64_t));
}

std::int64_t agree(RankState& rank, const RankFacts& own) {
  Stream& stream = *rank.streams.reduce;
  std::vector<std::uint64_t>& words = rank.host.words;
  words.assign(own.hashes.begin(), own.hashes.end());
  words.push_back(own.num_items);
  const Tensor all(rank.arena.at(0), {rank.world_size * kNumWords}, DType::I64);
  const Tensor mine = all.flat_slice(rank.rank * kNumWords, kNumWords);
  stream.copy(mine.data(), words.data(), mine.num_bytes());
  rank.reduce_comm->all_gather(stream, mine, all);
  stream.synchronize();
  words.resize(static_cast<std::size_t>(all.numel()));
  stream.copy(words.data(), all.data(), all.num_bytes());
  stream.synchronize();

  std::uint64_t num_items = 0;
  for (int r = 0; r < rank.world_size; ++r) {
    const auto of_rank = words.begin() + r * kNumWords;
    const auto differs = std::mismatch(of_rank, of_rank + kNumHashes, words.begin()).first - of_rank;
    if (differs < static_cast<std::ptrdiff_t>(kNumHashes)) {
      throw Error(ErrorCode::InvalidArgument,
                  fmt::format("[shard] rank {} differs from rank 0 in {}; all ranks must shard the same model in the "
                              "same way",
                              r, RankFacts::kNames[static_cast<std::size_t>(differs)]),
                  r);
    }
    num_items += of_rank[kNumHashes];
  }
  return static_cast<std::int64_t>(num_items);
}

}  // namespace shoal::fsdp
