#pragma once

#include <cstddef>
#include <vector>

namespace shoal::test::reference {

struct EmbeddingShape {
  std::size_t sequences, positions, width, vocabulary;  // B, T, C, V
};

/// y[b,t] = table[ids[b,t]] + positions[t]; `positions` may be empty.
inline std::vector<double> embedding(const EmbeddingShape& shape, const std::vector<double>& ids,
                                     const std::vector<double>& table, const std::vector<double>& positions) {
  std::vector<double> y(ids.size() * shape.width);
  for (std::size_t row = 0; row < ids.size(); ++row) {
    for (std::size_t c = 0; c < shape.width; ++c) {
      const double position = positions.empty() ? 0 : positions[row % shape.positions * shape.width + c];
      y[row * shape.width + c] = table[static_cast<std::size_t>(ids[row]) * shape.width + c] + position;
    }
  }
  return y;
}

/// Adds dy to the rows that were read.
inline void embedding_backward(const EmbeddingShape& shape, const std::vector<double>& ids,
                               const std::vector<double>& dy, std::vector<double>& dtable,
                               std::vector<double>& dpositions) {
  for (std::size_t row = 0; row < ids.size(); ++row) {
    for (std::size_t c = 0; c < shape.width; ++c) {
      dtable[static_cast<std::size_t>(ids[row]) * shape.width + c] += dy[row * shape.width + c];
      dpositions[row % shape.positions * shape.width + c] += dy[row * shape.width + c];
    }
  }
}

}  // namespace shoal::test::reference
