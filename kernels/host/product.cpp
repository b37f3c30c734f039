#include "shoal/kernels/host/product.h"

#include <algorithm>

#include "shoal/runtime/base/int_math.h"

namespace shoal::kernels::host {
namespace {

// A multiple of the register blocks of every instruction set.
constexpr std::int64_t kRowMultiple = 12;
constexpr std::int64_t kColumnMultiple = 32;
// Few enough for packing to stay cheap, and enough for two to eight workers to end together.
constexpr std::int64_t kWantedTiles = 16;
// Narrower tiles spend their time on packing.
constexpr std::int64_t kMinTileColumns = 192;
constexpr std::int64_t kMinTileRows = 48;
constexpr std::int64_t kMinTiles = 4;

}  // namespace

ProductGrid::ProductGrid(std::int64_t m, std::int64_t n) : m(m), n(n) {
  if (m == 0 || n == 0) return;
  row_tiles = ceil_div(m, kMaxTileRows);
  column_tiles =
      std::clamp<std::int64_t>(ceil_div(kWantedTiles, row_tiles), 1, std::max<std::int64_t>(1, n / kMinTileColumns));
  if (row_tiles * column_tiles < kMinTiles) {
    row_tiles = std::max(row_tiles, std::min(ceil_div(kMinTiles, column_tiles), m / kMinTileRows));
  }
  tile_rows = round_up(ceil_div(m, row_tiles), kRowMultiple);
  tile_columns = round_up(ceil_div(n, column_tiles), kColumnMultiple);
  row_tiles = ceil_div(m, tile_rows);
  column_tiles = ceil_div(n, tile_columns);
}

Tile ProductGrid::tile(std::int64_t index) const {
  const std::int64_t row = index / column_tiles * tile_rows;
  const std::int64_t column = index % column_tiles * tile_columns;
  return {row, std::min(row + tile_rows, m), column, std::min(column + tile_columns, n)};
}

}  // namespace shoal::kernels::host
