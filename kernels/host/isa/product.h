#pragma once

#include <cstdint>

namespace shoal::kernels::host {

/// Along one image axis: which source index position p and tap t meet at: p * position_step + t * tap_step + origin.
/// Sources outside [0, extent) read as 0.
struct PatchAxis {
  std::int64_t extent = 1;
  std::int64_t positions = 1;
  std::int64_t position_step = 1;
  std::int64_t taps = 1;
  std::int64_t tap_step = 1;
  std::int64_t origin = 0;
};

/// Images (batch, height, width, channels) seen as the matrix of a convolution: one index runs over the (image, row,
/// column) of positions, the other over (row tap, column tap, channel).
struct Patches {
  PatchAxis rows;
  PatchAxis columns;
  std::int64_t channels = 1;
};

/// A factor of a product: `outer` is its index in the result, k the one summed over.
struct Operand {
  enum class Kind {
    OuterContiguous,  // element (outer, k) at data[k * stride + outer]
    DepthContiguous,  // element (outer, k) at data[outer * stride + k]
    PositionPatches,  // outer: position, k: tap and channel
    TapPatches,       // outer: tap and channel, k: position
  };
  Kind kind = Kind::DepthContiguous;
  const float* data = nullptr;
  std::int64_t stride = 0;
  Patches patches;
};

/// Where the rows of a result lie: row (image, i, j) at image * image_stride + i * row_stride + j * column_stride
/// elements, j < columns, i < rows. A plain matrix has one column and any number of rows per image.
struct ResultRows {
  std::int64_t rows = INT64_MAX;
  std::int64_t columns = 1;
  std::int64_t image_stride = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
};

/// c (+)= a b (+ bias): c[i, j] = sum over k of a(i, k) b(j, k) + bias[j].
struct Product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Operand a;  // outer: i
  Operand b;  // outer: j
  float* c = nullptr;
  ResultRows c_rows;
  const float* bias = nullptr;
  bool accumulate = false;
};

/// Part of a result: rows [row_begin, row_end), columns [column_begin, column_end).
struct Tile {
  std::int64_t row_begin = 0;
  std::int64_t row_end = 0;
  std::int64_t column_begin = 0;
  std::int64_t column_end = 0;
};

// With these two, a tile's panels take 460 KB of the stack of the thread that computes it.
/// The most rows of a tile; a multiple of every instruction set's register block.
inline constexpr std::int64_t kMaxTileRows = 384;
/// The most k that are summed in registers before a partial sum is added to the result.
inline constexpr std::int64_t kMaxDepth = 256;

struct ProductKernels {
  /// Computes one tile. An element's bits depend on its row of a, its column of b, k and what it held, never on the
  /// tile: k is cut evenly into ceil(k / kMaxDepth) parts; each is summed in order from 0 and added to the result.
  void (*tile)(const Product& product, const Tile& tile);
};

}  // namespace shoal::kernels::host
