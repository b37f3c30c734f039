#include "shoal/collectives/fingerprint.h"

#include <fmt/format.h>

namespace shoal::collectives {
namespace {

std::string describe_detail(const Fingerprint& fingerprint) {
  switch (fingerprint.kind) {
    case CollectiveKind::Broadcast:
      return fmt::format(", from rank {}", fingerprint.detail);
    case CollectiveKind::WindowGather:
      return fmt::format(", window {}", fingerprint.detail);
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::AllReduce:
      return fingerprint.detail == static_cast<int>(Fold::Into) ? ", folded" : "";
    case CollectiveKind::SendRecv:
      return fingerprint.detail < 0 ? ", no receiver" : fmt::format(", to rank {}", fingerprint.detail);
    default:
      return "";
  }
}

}  // namespace

bool is_same_operation(const Fingerprint& a, const Fingerprint& b) {
  if (a.kind == CollectiveKind::SendRecv && b.kind == CollectiveKind::SendRecv) return true;
  return a == b;
}

std::string describe(const Fingerprint& fingerprint) {
  const char* name = collective_name(fingerprint.kind);
  if (fingerprint.kind == CollectiveKind::Barrier) return name;
  return fmt::format("{} ({} bytes, {}{})", name, fingerprint.bytes, dtype_name(fingerprint.dtype),
                     describe_detail(fingerprint));
}

std::string describe_ranks(const std::vector<int>& ranks) {
  if (ranks.empty()) return "no rank";
  if (ranks.size() == 1) return fmt::format("rank {}", ranks.front());
  std::string text = "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const char* separator = i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ";
    text += fmt::format("{}{}", separator, ranks[i]);
  }
  return text;
}

}  // namespace shoal::collectives
