// A product of two matrices, one tile at a time: the tile's rows of a are packed into panels once per part of k; then
// each panel of b is packed and met by every panel of a, a register block at a time. The inner loop reads 2 vectors and
// kRegisterRows scalars, all from panels, for 2 * kRegisterRows fused multiplications.

#include "shoal/kernels/host/isa/product.h"

#include "shoal/kernels/host/isa/dense_table_parts.h"
#include "shoal/kernels/host/isa/operand_pack.h"
#include "shoal/kernels/host/isa/register_block.h"

namespace shoal::kernels::host::SHOAL_ISA {
namespace {

static_assert(kMaxTileRows % kRegisterRows == 0);

/// Offsets of the rows of a tile in c.
struct RowOffsets {
  std::int64_t at[kMaxTileRows];

  RowOffsets(const ResultRows& rows, const Tile& tile) {
    std::int64_t j = tile.row_begin % rows.columns;
    std::int64_t i = tile.row_begin / rows.columns;
    std::int64_t image = i / rows.rows;
    i %= rows.rows;
    for (std::int64_t row = tile.row_begin; row < tile.row_end; ++row) {
      at[row - tile.row_begin] = image * rows.image_stride + i * rows.row_stride + j * rows.column_stride;
      if (++j < rows.columns) continue;
      j = 0;
      if (++i < rows.rows) continue;
      i = 0;
      ++image;
    }
  }
};

/// Columns of b packed together: whole cache lines side by side are read from each of its rows.
constexpr std::int64_t kGroupColumns = 64;
static_assert(kGroupColumns % kRegisterColumns == 0);

/// The packed rows of a tile against one panel of b.
struct TileRows {
  const Product& product;
  const RowOffsets& offsets;
  std::int64_t count;
  const float* panels;
  std::int64_t depth;

  void multiply(const float* b_panel, std::int64_t column, std::int64_t columns, BlockResult result) const {
    for (std::int64_t row = 0; row < count; row += kRegisterRows) {
      const std::int64_t rows = count - row < kRegisterRows ? count - row : kRegisterRows;
      for (std::int64_t i = 0; i < rows; ++i) result.row[i] = product.c + offsets.at[row + i] + column;
      multiply_any(depth, panels + row * depth, b_panel, result, rows, columns);
    }
  }
};

void multiply_tile(const Product& product, const Tile& tile) {
  alignas(64) float a_panels[kMaxTileRows * kMaxDepth + 4];
  alignas(64) float b_panels[kGroupColumns * kMaxDepth];
  const RowOffsets offsets(product.c_rows, tile);
  const std::int64_t tile_rows = tile.row_end - tile.row_begin;
  const std::int64_t num_parts = product.k == 0 ? 1 : (product.k + kMaxDepth - 1) / kMaxDepth;
  for (std::int64_t part = 0; part < num_parts; ++part) {
    const std::int64_t depth = product.k * part / num_parts;
    const std::int64_t depth_count = product.k * (part + 1) / num_parts - depth;
    pack<kRegisterRows>(product.a, {tile.row_begin, tile_rows, depth, depth_count}, a_panels);
    const TileRows rows{product, offsets, tile_rows, a_panels, depth_count};
    const bool has_bias = product.bias != nullptr && part == num_parts - 1;
    for (std::int64_t group = tile.column_begin; group < tile.column_end; group += kGroupColumns) {
      const std::int64_t rest = tile.column_end - group;
      const std::int64_t group_columns = rest < kGroupColumns ? rest : kGroupColumns;
      pack<kRegisterColumns>(product.b, {group, group_columns, depth, depth_count}, b_panels);
      for (std::int64_t column = 0; column < group_columns; column += kRegisterColumns) {
        const BlockResult result{
            {}, has_bias ? product.bias + group + column : nullptr, part > 0 || product.accumulate};
        rows.multiply(b_panels + column * depth_count, group + column, group_columns - column, result);
      }
    }
  }
}

}  // namespace

ProductKernels product_kernels() { return {multiply_tile}; }

}  // namespace shoal::kernels::host::SHOAL_ISA
