#include "shoal/kernels/host/product.h"

#include <algorithm>

#include "shoal/runtime/base/int_math.h"

namespace shoal::kernels::host {
namespace {

// Multiples of the register blocks of every instruction set.
constexpr std::int64_t kRowMultiple = 12;
constexpr std::int64_t kColumnMultiple = 32;
static_assert(kMaxTileRows % kRowMultiple == 0);

/// As many tiles as a result is worth: enough for a few workers to end together where it is large, fewer where tiles
/// would become so small that packing shows, one where handing over would cost more than it saves.
std::int64_t wanted_tiles(std::int64_t m, std::int64_t n) {
  constexpr std::int64_t kGoodTile = 160 * 160;
  constexpr std::int64_t kSmallTile = 90 * 90;
  const std::int64_t good = std::min<std::int64_t>(8, m * n / kGoodTile);
  const std::int64_t small = std::min<std::int64_t>(4, m * n / kSmallTile);
  return std::max<std::int64_t>({1, good, small});
}

/// What packing costs beside the product: each element of a tile's rows is used once per column and the reverse.
double packing_cost(std::int64_t tile_rows, std::int64_t tile_columns) {
  return 1.0 / static_cast<double>(tile_rows) + 1.0 / static_cast<double>(tile_columns);
}

}  // namespace

ProductGrid::ProductGrid(std::int64_t m, std::int64_t n) : m(m), n(n) {
  if (m == 0 || n == 0) return;
  const std::int64_t wanted = wanted_tiles(m, n);
  double best_cost = 0;
  for (std::int64_t columns = 1; columns <= wanted && (columns - 1) * kColumnMultiple < n; ++columns) {
    const std::int64_t rows = std::max(ceil_div(m, kMaxTileRows), ceil_div(wanted, columns));
    const std::int64_t rows_each = round_up(ceil_div(m, rows), kRowMultiple);
    const std::int64_t columns_each = round_up(ceil_div(n, columns), kColumnMultiple);
    const double cost = packing_cost(rows_each, columns_each);
    if (columns > 1 && cost >= best_cost) continue;
    best_cost = cost;
    tile_rows = rows_each;
    tile_columns = columns_each;
  }
  row_tiles = ceil_div(m, tile_rows);
  column_tiles = ceil_div(n, tile_columns);
}

Tile ProductGrid::tile(std::int64_t index) const {
  const std::int64_t row = index / column_tiles * tile_rows;
  const std::int64_t column = index % column_tiles * tile_columns;
  return {row, std::min(row + tile_rows, m), column, std::min(column + tile_columns, n)};
}

}  // namespace shoal::kernels::host
