#pragma once

#include <cstdint>

#include "shoal/kernels/host/dense_dispatch.h"
#include "shoal/kernels/host/isa/product.h"
#include "shoal/runtime/device/task.h"

namespace shoal::kernels::host {

/// How a result of m rows and n columns is cut into tiles. A function of m and n alone, so that no bit depends on who
/// computes what.
struct ProductGrid {
  ProductGrid(std::int64_t m, std::int64_t n);

  std::int64_t num_tiles() const { return row_tiles * column_tiles; }
  /// Tiles count along columns first: neighbours share rows.
  Tile tile(std::int64_t index) const;

  std::int64_t m;
  std::int64_t n;
  std::int64_t tile_rows = 0;
  std::int64_t tile_columns = 0;
  std::int64_t row_tiles = 0;
  std::int64_t column_tiles = 0;
};

/// Computes `product` on all workers, calling finish(tile) right after each tile, by the worker that has it in its
/// cache. Nothing happens where m or n is 0; k may be 0.
template <typename Finish>
void multiply(Workers& workers, const Product& product, const Finish& finish) {
  const ProductGrid grid(product.m, product.n);
  const ProductKernels& kernels = dense_kernels().product;
  workers.parallel_for(grid.num_tiles(), [&](std::int64_t index, int) {
    const Tile tile = grid.tile(index);
    kernels.tile(product, tile);
    finish(tile);
  });
}

inline void multiply(Workers& workers, const Product& product) {
  multiply(workers, product, [](const Tile&) {});
}

/// A matrix with `stride` elements from row to row, as the factor whose outer index counts rows or columns.
inline Operand outer_rows(const float* data, std::int64_t stride) {
  return {Operand::Kind::DepthContiguous, data, stride, {}};
}
inline Operand outer_columns(const float* data, std::int64_t stride) {
  return {Operand::Kind::OuterContiguous, data, stride, {}};
}

/// The rows of a plain matrix with `stride` elements from row to row.
inline ResultRows matrix_rows(std::int64_t stride) { return {.row_stride = stride}; }

}  // namespace shoal::kernels::host
