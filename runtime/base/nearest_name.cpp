#include "shoal/runtime/base/nearest_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace shoal {
namespace {

// Optimal string alignment distance, by rows of its table: d[i][j] edits turn a's first i characters into b's first j.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = last;
    last = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known) {
  std::string_view nearest;
  std::size_t fewest = name.size() / 2 + 1;
  for (const std::string_view candidate : known) {
    const std::size_t edits = edit_distance(name, candidate);
    if (edits < fewest) {
      fewest = edits;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string describe_unknown(std::string_view name, std::span<const std::string_view> known) {
  const std::string_view nearest = nearest_name(name, known);
  const std::string hint = nearest.empty() ? std::string(".") : fmt::format("; did you mean '{}'?", nearest);
  return fmt::format("'{}' is unknown{} Known: {}", name, hint, fmt::join(known, ", "));
}

}  // namespace shoal
