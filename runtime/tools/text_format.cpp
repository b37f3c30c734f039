#include "shoal/runtime/tools/text_format.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace shoal::tools {
namespace {

// Neighbouring ranks whose figures are the same.
struct RankGroup {
  std::size_t first = 0;
  std::size_t last = 0;
};

std::vector<RankGroup> group_ranks(const std::vector<MemoryBytes>& a, const std::vector<MemoryBytes>& b) {
  const auto is_same = [](const std::vector<MemoryBytes>& bytes, std::size_t rank) {
    return bytes.empty() || bytes[rank] == bytes[rank - 1];
  };
  std::vector<RankGroup> groups;
  const std::size_t num_ranks = std::max(a.size(), b.size());
  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    if (rank > 0 && is_same(a, rank) && is_same(b, rank)) {
      groups.back().last = rank;
    } else {
      groups.push_back({rank, rank});
    }
  }
  return groups;
}

std::string group_name(const RankGroup& group) {
  if (group.first == group.last) return fmt::format("rank {}", group.first);
  return fmt::format("ranks {}-{}", group.first, group.last);
}

// One line: a name, then measured and predicted of every group.
template <typename Select>
std::string memory_line(std::string_view name, const std::vector<RankGroup>& groups,
                        const std::vector<MemoryBytes>& measured, const std::vector<MemoryBytes>& predicted,
                        const Select& select) {
  std::string line = fmt::format("  {:<21}", name);
  for (const RankGroup& group : groups) {
    if (!measured.empty()) line += fmt::format("{:>12}", format_bytes(select(measured[group.first])));
    if (!predicted.empty()) line += fmt::format("{:>12}", format_bytes(select(predicted[group.first])));
  }
  return line + "\n";
}

bool is_used(const std::vector<MemoryBytes>& ranks, MemoryTag tag) {
  for (const MemoryBytes& bytes : ranks) {
    if (bytes[tag] != 0) return true;
  }
  return false;
}

}  // namespace

std::string format_bytes(std::int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  constexpr std::array<std::string_view, 4> kUnits = {"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string format_count(std::int64_t count) {
  if (count < 1000) return fmt::format("{}", count);
  constexpr std::array<std::string_view, 3> kUnits = {"k", "M", "B"};
  double value = static_cast<double>(count) / 1000;
  std::size_t unit = 0;
  while (value >= 999.95 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.1f}{}", value, kUnits[unit]);
}

std::string format_seconds(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(std::max(0.0, seconds)));
  const std::int64_t minutes = whole / 60;
  if (minutes < 60) return fmt::format("{}:{:02}", minutes, whole % 60);
  return fmt::format("{}:{:02}:{:02}", minutes / 60, minutes % 60, whole % 60);
}

std::string format_memory(const std::vector<MemoryBytes>& measured, const std::vector<MemoryBytes>& predicted) {
  const std::vector<RankGroup> groups = group_ranks(measured, predicted);
  const int columns = (measured.empty() ? 0 : 1) + (predicted.empty() ? 0 : 1);
  std::string heading = fmt::format("  {:<21}", "memory at its peak");
  std::string kinds = fmt::format("  {:<21}", "");
  for (const RankGroup& group : groups) {
    heading += fmt::format("{:>{}}", group_name(group), 12 * columns);
    if (!measured.empty()) kinds += fmt::format("{:>12}", "measured");
    if (!predicted.empty()) kinds += fmt::format("{:>12}", "predicted");
  }
  std::string table = heading + "\n" + kinds + "\n";
  for (int index = 0; index < kNumMemoryTags; ++index) {
    const auto tag = static_cast<MemoryTag>(index);
    if (!is_used(measured, tag) && !is_used(predicted, tag)) continue;
    table += memory_line(memory_tag_name(tag), groups, measured, predicted,
                         [tag](const MemoryBytes& bytes) { return bytes[tag]; });
  }
  table += memory_line("in total, at once", groups, measured, predicted,
                       [](const MemoryBytes& bytes) { return bytes.total; });
  return table;
}

}  // namespace shoal::tools
