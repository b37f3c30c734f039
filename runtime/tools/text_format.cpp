#include "shoal/runtime/tools/text_format.h"

#include <fmt/format.h>

#include <algorithm>
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

// Bytes of the printable character that `text` begins with; 0 where that is none: a control character, or no UTF-8.
std::size_t printable_length(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned first = byte(0);
  if (first < 0x80) return (first >= 0x20 && first != 0x7f) || first == '\n' || first == '\t' ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  std::uint32_t code = first & (0x7fU >> length);
  for (std::size_t at = 1; at < length; ++at) {
    if ((byte(at) & 0xc0U) != 0x80U) return 0;
    code = (code << 6) | (byte(at) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0xa0, 0x800, 0x10000};  // by length; 0x80-0x9f are controls
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < kLeast[length] || code > 0x10ffff || is_surrogate ? 0 : length;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = printable_length(text);
    if (length == 0) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return result;
}

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
