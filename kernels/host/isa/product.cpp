// A product of two matrices, one tile at a time: the tile's rows of a are packed into panels once per part of k; then
// each panel of b is packed and met by every panel of a, a register block at a time. The inner loop reads 2 vectors and
// kRegisterRows scalars, all from panels, for 2 * kRegisterRows fused multiplications.

#include "shoal/kernels/host/isa/product.h"

#include "shoal/kernels/host/isa/dense_table_parts.h"
#include "shoal/kernels/host/isa/product_pack.h"
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

void multiply_tile(const Product& product, const Tile& tile) {
  alignas(64) float a_panels[kMaxTileRows * kMaxDepth + 4];
  alignas(64) float b_panel[kRegisterColumns * kMaxDepth];
  const RowOffsets offsets(product.c_rows, tile);
  const std::int64_t tile_rows = tile.row_end - tile.row_begin;
  const std::int64_t num_parts = product.k == 0 ? 1 : (product.k + kMaxDepth - 1) / kMaxDepth;
  for (std::int64_t part = 0; part < num_parts; ++part) {
    const std::int64_t depth = product.k * part / num_parts;
    const std::int64_t depth_count = product.k * (part + 1) / num_parts - depth;
    pack<kRegisterRows>(product.a, {tile.row_begin, tile_rows, depth, depth_count}, a_panels);
    for (std::int64_t column = tile.column_begin; column < tile.column_end; column += kRegisterColumns) {
      const std::int64_t remaining = tile.column_end - column;
      const std::int64_t columns = remaining < kRegisterColumns ? remaining : kRegisterColumns;
      pack<kRegisterColumns>(product.b, {column, columns, depth, depth_count}, b_panel);
      const bool has_bias = product.bias != nullptr && part == num_parts - 1;
      BlockResult result{{}, has_bias ? product.bias + column : nullptr, part > 0 || product.accumulate};
      for (std::int64_t row = 0; row < tile_rows; row += kRegisterRows) {
        const std::int64_t rows = tile_rows - row < kRegisterRows ? tile_rows - row : kRegisterRows;
        for (int i = 0; i < kRegisterRows; ++i) {
          result.row[i] = i < rows ? product.c + offsets.at[row + i] + column : nullptr;
        }
        const float* a = a_panels + row * depth_count;
        if (rows == kRegisterRows && columns == kRegisterColumns) {
          multiply_block(depth_count, a, b_panel, result);
        } else {
          multiply_edge(depth_count, a, b_panel, result, rows, columns);
        }
      }
    }
  }
}

}  // namespace

ProductKernels product_kernels() { return {multiply_tile}; }

}  // namespace shoal::kernels::host::SHOAL_ISA
