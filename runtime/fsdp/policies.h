#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shoal::fsdp {

/// What is held in full on every rank (design of ZeRO: Rajbhandari et al. 2020).
enum class Strategy { None, Optimizer, Gradients, Full, Hybrid };

/// "none", "optimizer", "gradients", "full", "hybrid".
std::string_view strategy_name(Strategy strategy);
/// Throws InvalidArgument naming the known ones.
Strategy parse_strategy(std::string_view name);

/// Whether ranks hold shards of the parameters only, so that values must be gathered to be used.
inline bool shards_parameters(Strategy strategy, int world_size) {
  return (strategy == Strategy::Full || strategy == Strategy::Hybrid) && world_size > 1;
}

/// How a model is sharded and scheduled. Plain data, frozen once a model is sharded.
struct Policies {
  Strategy strategy = Strategy::Full;
  int prefetch = 1;                     // at most this many leaf units are gathered but not yet entered
  std::vector<std::string> wrap_types;  // module types that become units beside the modules marked by hand
};

}  // namespace shoal::fsdp
