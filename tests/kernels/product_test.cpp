#include "shoal/kernels/host/product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "shoal/tests/kernels/tested_sets.h"
#include "shoal/tests/support/compare.h"
#include "shoal/tests/support/fill_values.h"

namespace shoal::kernels::host {
namespace {

/// A matrix in memory with room between its rows, as a factor of a product.
struct Factor {
  std::vector<float> values;
  std::int64_t outer;
  std::int64_t k;
  Operand operand;

  Factor(Operand::Kind kind, std::int64_t outer_extent, std::int64_t k_extent, std::uint64_t seed)
      : outer(outer_extent), k(k_extent) {
    const bool by_depth = kind == Operand::Kind::DepthContiguous;
    const std::int64_t stride = (by_depth ? k : outer) + 3;
    values = test::normal_values(stride * (by_depth ? outer : k), seed);
    operand = {kind, values.data(), stride, {}};
  }

  double at(std::int64_t i, std::int64_t depth) const {
    const bool by_depth = operand.kind == Operand::Kind::DepthContiguous;
    const std::int64_t index = by_depth ? i * operand.stride + depth : depth * operand.stride + i;
    return static_cast<double>(values[static_cast<std::size_t>(index)]);
  }
};

std::vector<double> expected(const Factor& a, const Factor& b, const std::vector<float>& bias,
                             const std::vector<float>& initial) {
  std::vector<double> c(initial.begin(), initial.end());
  c.resize(static_cast<std::size_t>(a.outer * b.outer));
  for (std::int64_t i = 0; i < a.outer; ++i) {
    for (std::int64_t j = 0; j < b.outer; ++j) {
      double& sum = c[static_cast<std::size_t>(i * b.outer + j)];
      if (!bias.empty()) sum += static_cast<double>(bias[static_cast<std::size_t>(j)]);
      for (std::int64_t k = 0; k < a.k; ++k) sum += a.at(i, k) * b.at(j, k);
    }
  }
  return c;
}

TEST(ProductGrid, TilesCoverEveryElementOnce) {
  for (const std::int64_t m : {1, 5, 12, 100, 383, 384, 385, 2048}) {
    for (const std::int64_t n : {1, 31, 32, 33, 200, 768, 3000}) {
      const ProductGrid grid(m, n);
      std::vector<int> visits(static_cast<std::size_t>(m * n));
      for (std::int64_t index = 0; index < grid.num_tiles(); ++index) {
        const Tile tile = grid.tile(index);
        ASSERT_LE(tile.row_end - tile.row_begin, kMaxTileRows);
        for (std::int64_t i = tile.row_begin; i < tile.row_end; ++i) {
          for (std::int64_t j = tile.column_begin; j < tile.column_end; ++j) {
            ++visits[static_cast<std::size_t>(i * n + j)];
          }
        }
      }
      EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), m * n) << m << " x " << n;
    }
  }
}

TEST(ProductGrid, LargeResults_AreSharedByManyTilesAndSmallOnesByNone) {
  EXPECT_GE(ProductGrid(2048, 384).num_tiles(), 8);
  EXPECT_GE(ProductGrid(256, 50304).num_tiles(), 8);
  EXPECT_GE(ProductGrid(384, 384).num_tiles(), 4);
  EXPECT_GE(ProductGrid(512, 128).num_tiles(), 4);
  EXPECT_EQ(ProductGrid(64, 64).num_tiles(), 1);
  EXPECT_EQ(ProductGrid(0, 64).num_tiles(), 0);
  EXPECT_EQ(ProductGrid(64, 0).num_tiles(), 0);
}

TEST(Product, EveryInstructionSetAndLayout_MatchesTheReference) {
  using Kind = Operand::Kind;
  // Widths of no, one and several panels, with rests; k of none, part, one and several parts.
  for (const auto& [m, n, k] :
       std::vector<std::array<std::int64_t, 3>>{{1, 1, 3}, {23, 37, 40}, {50, 70, 600}, {13, 17, 0}}) {
    for (const Kind a_kind : {Kind::DepthContiguous, Kind::OuterContiguous}) {
      for (const Kind b_kind : {Kind::DepthContiguous, Kind::OuterContiguous}) {
        const Factor a(a_kind, m, k, 1);
        const Factor b(b_kind, n, k, 2);
        const std::vector<float> bias = test::normal_values(n, 3);
        const std::vector<float> initial = test::normal_values(m * n, 4);
        for (const TestedSet& set : tested_sets()) {
          std::vector<float> c = initial;
          const Product product{.m = m,
                                .n = n,
                                .k = k,
                                .a = a.operand,
                                .b = b.operand,
                                .c = c.data(),
                                .c_rows = matrix_rows(n),
                                .bias = bias.data(),
                                .accumulate = true};
          set.dense->product.tile(product, {0, m, 0, n});
          EXPECT_TRUE(test::is_within(std::vector<double>(c.begin(), c.end()), expected(a, b, bias, initial),
                                      DType::F32, test::kProduct))
              << set.name << " " << m << " " << n << " " << k;
        }
      }
    }
  }
}

TEST(Product, BitsDoNotDependOnTheTiles) {
  const std::int64_t m = 61;
  const std::int64_t n = 83;
  const Factor a(Operand::Kind::DepthContiguous, m, 700, 1);
  const Factor b(Operand::Kind::OuterContiguous, n, 700, 2);
  for (const TestedSet& set : tested_sets()) {
    std::vector<float> whole(static_cast<std::size_t>(m * n));
    std::vector<float> parts = whole;
    Product product{
        .m = m, .n = n, .k = 700, .a = a.operand, .b = b.operand, .c = whole.data(), .c_rows = matrix_rows(n)};
    set.dense->product.tile(product, {0, m, 0, n});
    product.c = parts.data();
    for (std::int64_t row = 0; row < m; row += 11) {
      for (std::int64_t column = 0; column < n; column += 19) {
        set.dense->product.tile(product, {row, std::min(row + 11, m), column, std::min(column + 19, n)});
      }
    }
    EXPECT_EQ(whole, parts) << set.name;
  }
}

TEST(Product, Accumulating_AddsPartByPart) {
  const std::int64_t m = 14;
  const std::int64_t n = 35;
  const std::int64_t k = 600;  // three parts of 200
  const Factor a(Operand::Kind::DepthContiguous, m, k, 1);
  const Factor b(Operand::Kind::DepthContiguous, n, k, 2);
  const std::vector<float> initial = test::normal_values(m * n, 4);
  for (const TestedSet& set : tested_sets()) {
    const auto add = [&](std::vector<float>& c, std::int64_t depth, std::int64_t count) {
      Product product{.m = m,
                      .n = n,
                      .k = count,
                      .a = a.operand,
                      .b = b.operand,
                      .c = c.data(),
                      .c_rows = matrix_rows(n),
                      .accumulate = true};
      product.a.data += depth;
      product.b.data += depth;
      set.dense->product.tile(product, {0, m, 0, n});
    };
    std::vector<float> whole = initial;
    std::vector<float> parts = initial;
    add(whole, 0, k);
    for (std::int64_t depth = 0; depth < k; depth += 200) add(parts, depth, 200);
    EXPECT_EQ(whole, parts) << set.name;
  }
}

/// 2 images of 5 x 4 with 3 channels, seen by a kernel of 3 with stride 2 and padding 1: positions 3 x 2.
struct PatchCase {
  static constexpr std::int64_t kImages = 2;
  PatchAxis rows{5, 3, 2, 3, 1, -1};
  PatchAxis columns{4, 2, 2, 3, 1, -1};
  std::int64_t channels = 3;
  std::vector<float> images = test::exact_values(kImages * 5 * 4 * 3, 5);

  std::int64_t positions() const { return kImages * rows.positions * columns.positions; }
  std::int64_t depth() const { return rows.taps * columns.taps * channels; }
  Operand operand(Operand::Kind kind) const { return {kind, images.data(), 0, {rows, columns, channels}}; }

  /// The matrix (positions, depth) that the patches stand for.
  std::vector<float> unfolded() const {
    std::vector<float> matrix;
    for (std::int64_t p = 0; p < positions(); ++p) {
      const std::int64_t image = p / (rows.positions * columns.positions);
      const std::int64_t i = p / columns.positions % rows.positions;
      const std::int64_t j = p % columns.positions;
      for (std::int64_t k = 0; k < depth(); ++k) {
        const std::int64_t row = i * 2 - 1 + k / channels / columns.taps;
        const std::int64_t column = j * 2 - 1 + k / channels % columns.taps;
        const bool is_inside = row >= 0 && row < rows.extent && column >= 0 && column < columns.extent;
        const std::int64_t index = ((image * rows.extent + row) * columns.extent + column) * channels + k % channels;
        matrix.push_back(is_inside ? images[static_cast<std::size_t>(index)] : 0.0f);
      }
    }
    return matrix;
  }
};

TEST(Product, Patches_AreTheUnfoldedImages) {
  const PatchCase patches;
  const std::vector<float> matrix = patches.unfolded();
  const std::int64_t m = patches.positions();
  const std::int64_t k = patches.depth();
  for (const TestedSet& set : tested_sets()) {
    const ProductKernels& kernels = set.dense->product;
    const auto multiplied = [&](const Operand& a, const Operand& b, std::int64_t rows, std::int64_t columns,
                                std::int64_t depth) {
      std::vector<float> c(static_cast<std::size_t>(rows * columns));
      const Product product{
          .m = rows, .n = columns, .k = depth, .a = a, .b = b, .c = c.data(), .c_rows = matrix_rows(columns)};
      kernels.tile(product, {0, rows, 0, columns});
      return c;
    };
    // Gram matrices of exact values: positions against positions, taps against taps.
    const Operand by_position = patches.operand(Operand::Kind::PositionPatches);
    EXPECT_EQ(multiplied(by_position, by_position, m, m, k),
              multiplied(outer_rows(matrix.data(), k), outer_rows(matrix.data(), k), m, m, k))
        << set.name;
    const Operand by_tap = patches.operand(Operand::Kind::TapPatches);
    EXPECT_EQ(multiplied(by_tap, by_tap, k, k, m),
              multiplied(outer_columns(matrix.data(), k), outer_columns(matrix.data(), k), k, k, m))
        << set.name;
  }
}

TEST(Product, ScatteredRows_LandWhereTheyBelong) {
  // 2 images of 2 x 3 positions, every other row and column of a 4 x 6 result with 5 columns of c.
  const Factor a(Operand::Kind::DepthContiguous, 12, 8, 1);
  const Factor b(Operand::Kind::DepthContiguous, 5, 8, 2);
  const ResultRows rows{
      .rows = 2, .columns = 3, .image_stride = 4 * 6 * 5, .row_stride = 2 * 6 * 5, .column_stride = 2 * 5};
  for (const TestedSet& set : tested_sets()) {
    std::vector<float> dense(12 * 5);
    std::vector<float> scattered(2 * 4 * 6 * 5, -1.0f);
    Product product{
        .m = 12, .n = 5, .k = 8, .a = a.operand, .b = b.operand, .c = dense.data(), .c_rows = matrix_rows(5)};
    set.dense->product.tile(product, {0, 12, 0, 5});
    product.c = scattered.data();
    product.c_rows = rows;
    set.dense->product.tile(product, {0, 7, 0, 5});
    set.dense->product.tile(product, {7, 12, 0, 5});
    std::vector<float> want(scattered.size(), -1.0f);
    for (std::int64_t row = 0; row < 12; ++row) {
      const std::int64_t begin =
          row / 6 * rows.image_stride + row / 3 % 2 * rows.row_stride + row % 3 * rows.column_stride;
      std::copy_n(dense.begin() + row * 5, 5, want.begin() + begin);
    }
    EXPECT_EQ(scattered, want) << set.name;
  }
}

}  // namespace
}  // namespace shoal::kernels::host
