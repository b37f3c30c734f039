#include "shoal/kernels/host/conv2d.h"

#include <algorithm>

#include "shoal/kernels/host/product.h"
#include "shoal/kernels/workspace.h"
#include "shoal/runtime/base/int_math.h"

namespace shoal::kernels::host {
namespace {

std::int64_t num_taps(const Conv2dShape& s) { return s.kernel * s.kernel; }
std::int64_t weight_numel(const Conv2dShape& s) { return s.out_channels * s.in_channels * num_taps(s); }

/// The images as rows of taps, for each output position.
Operand input_patches(const Conv2dShape& s, const float* x, Operand::Kind kind) {
  const auto axis = [&](std::int64_t extent, std::int64_t positions) {
    return PatchAxis{extent, positions, s.stride, s.kernel, 1, -s.padding};
  };
  return {kind, x, 0, {axis(s.height, s.out_height()), axis(s.width, s.out_width()), s.in_channels}};
}

/// w as the factor that meets taps and channels of x: (taps, in_channels, out_channels), in `scratch` unless w is that
/// matrix itself.
Operand forward_weights(Workers& workers, const Conv2dShape& s, const float* w, float* scratch) {
  if (s.kernel == 1) return outer_rows(w, s.in_channels);
  const std::int64_t taps = num_taps(s);
  // One chunk is one input channel: its taps of every output channel.
  workers.parallel_for(s.in_channels, [&](std::int64_t i, int) {
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const float* from = w + i * taps + tap;
      float* to = scratch + (tap * s.in_channels + i) * s.out_channels;
      for (std::int64_t o = 0; o < s.out_channels; ++o) to[o] = from[o * s.in_channels * taps];
    }
  });
  return outer_columns(scratch, s.out_channels);
}

/// The input rows (or columns) h with h mod stride = phase, and the taps that reach them: output p = (h + padding - r)
/// / stride must be whole, so r = first_tap, first_tap + stride, ...
struct Phase {
  std::int64_t first_tap;
  PatchAxis axis;

  Phase(const Conv2dShape& s, std::int64_t phase, std::int64_t extent, std::int64_t out_extent)
      : first_tap((phase + s.padding) % s.stride) {
    axis.extent = out_extent;
    axis.positions = extent > phase ? ceil_div(extent - phase, s.stride) : 0;
    axis.position_step = 1;
    axis.taps = first_tap < s.kernel ? ceil_div(s.kernel - first_tap, s.stride) : 0;
    axis.tap_step = -1;
    axis.origin = (phase + s.padding - first_tap) / s.stride;
  }
};

/// w as the factors that meet taps and channels of dy: (taps, out_channels, in_channels), taps in the order in which
/// the phases use them.
const float* backward_weights(Workers& workers, const Conv2dShape& s, const float* w, float* scratch) {
  if (s.kernel == 1) return w;
  const std::int64_t taps = num_taps(s);
  workers.parallel_for(s.out_channels, [&](std::int64_t o, int) {
    float* to = scratch + o * s.in_channels;
    const float* from = w + o * s.in_channels * taps;
    for (std::int64_t row_phase = 0; row_phase < s.stride; ++row_phase) {
      for (std::int64_t column_phase = 0; column_phase < s.stride; ++column_phase) {
        const std::int64_t first_row = (row_phase + s.padding) % s.stride;
        const std::int64_t first_column = (column_phase + s.padding) % s.stride;
        for (std::int64_t r = first_row; r < s.kernel; r += s.stride) {
          for (std::int64_t c = first_column; c < s.kernel; c += s.stride) {
            for (std::int64_t i = 0; i < s.in_channels; ++i) to[i] = from[i * taps + r * s.kernel + c];
            to += s.out_channels * s.in_channels;
          }
        }
      }
    }
  });
  return scratch;
}

/// How the weight gradient's sum over images is cut where its result has too few tiles for several workers.
struct ImageGroups {
  explicit ImageGroups(const Conv2dShape& s) {
    constexpr std::int64_t kWantedChunks = 8;
    // Fewer positions than this per group are not worth another partial result.
    constexpr std::int64_t kMinPositions = 2048;
    const ProductGrid grid(s.out_channels, s.in_channels * num_taps(s));
    const std::int64_t positions = s.batch * s.out_height() * s.out_width();
    const std::int64_t wanted =
        std::min({ceil_div(kWantedChunks, grid.num_tiles()), positions / kMinPositions, s.batch});
    images = ceil_div(std::max<std::int64_t>(1, s.batch), std::max<std::int64_t>(1, wanted));
    count = std::max<std::int64_t>(1, ceil_div(s.batch, images));
  }

  std::int64_t images;  // of a group; the last may have fewer
  std::int64_t count;
};

/// Whether the weight gradient is the product's result as it stands.
bool is_written_directly(const Conv2dShape& s) { return s.kernel == 1 && ImageGroups(s).count == 1; }

/// dw (out, in, taps) (+)= sum over groups, in order, of partial (group, out, taps, in).
void fold_weight_gradient(Workers& workers, const Conv2dShape& s, const float* partial, const GradTarget& dw) {
  const std::int64_t taps = num_taps(s);
  const std::int64_t groups = ImageGroups(s).count;
  auto* out = dw.tensor.as<float>();
  workers.parallel_for(s.out_channels, [&](std::int64_t o, int) {
    for (std::int64_t i = 0; i < s.in_channels; ++i) {
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        const float* from = partial + (o * taps + tap) * s.in_channels + i;
        float sum = from[0];
        for (std::int64_t group = 1; group < groups; ++group) sum += from[group * weight_numel(s)];
        float& to = out[(o * s.in_channels + i) * taps + tap];
        to = dw.accumulate ? to + sum : sum;
      }
    }
  });
}

}  // namespace

std::int64_t conv2d_forward_scratch(const Conv2dShape& s) { return s.kernel == 1 ? 0 : weight_numel(s); }

std::int64_t conv2d_backward_input_scratch(const Conv2dShape& s) { return s.kernel == 1 ? 0 : weight_numel(s); }

std::int64_t conv2d_backward_weight_scratch(const Conv2dShape& s) {
  return is_written_directly(s) ? 0 : ImageGroups(s).count * weight_numel(s);
}

void conv2d_forward(Stream& stream, const Conv2dShape& s, const Tensor& x, const Tensor& w, const Tensor& y,
                    const Tensor& workspace) {
  stream.run("conv2d_forward", {x, w}, {y, workspace}, [=](Workers& workers) {
    const Product product{
        .m = s.batch * s.out_height() * s.out_width(),
        .n = s.out_channels,
        .k = num_taps(s) * s.in_channels,
        .a = input_patches(s, x.as<float>(), Operand::Kind::PositionPatches),
        .b = forward_weights(workers, s, w.as<float>(), workspace_floats(workspace)),
        .c = y.as<float>(),
        .c_rows = matrix_rows(s.out_channels),
    };
    multiply(workers, product);
  });
}

void conv2d_backward_input(Stream& stream, const Conv2dShape& s, const Tensor& dy, const Tensor& w,
                           const GradTarget& dx, const Tensor& workspace) {
  stream.run("conv2d_backward_input", {dy, w}, {dx.tensor, workspace}, [=](Workers& workers) {
    const float* weights = backward_weights(workers, s, w.as<float>(), workspace_floats(workspace));
    for (std::int64_t row_phase = 0; row_phase < s.stride; ++row_phase) {
      for (std::int64_t column_phase = 0; column_phase < s.stride; ++column_phase) {
        const Phase rows(s, row_phase, s.height, s.out_height());
        const Phase columns(s, column_phase, s.width, s.out_width());
        const Product product{
            .m = s.batch * rows.axis.positions * columns.axis.positions,
            .n = s.in_channels,
            .k = rows.axis.taps * columns.axis.taps * s.out_channels,
            .a = {Operand::Kind::PositionPatches, dy.as<float>(), 0, {rows.axis, columns.axis, s.out_channels}},
            .b = outer_columns(weights, s.in_channels),
            .c = dx.tensor.as<float>() + (row_phase * s.width + column_phase) * s.in_channels,
            .c_rows = {.rows = rows.axis.positions,
                       .columns = columns.axis.positions,
                       .image_stride = s.height * s.width * s.in_channels,
                       .row_stride = s.stride * s.width * s.in_channels,
                       .column_stride = s.stride * s.in_channels},
            .accumulate = dx.accumulate,
        };
        multiply(workers, product);
        weights += product.k * s.in_channels;
      }
    }
  });
}

void conv2d_backward_weight(Stream& stream, const Conv2dShape& s, const Tensor& x, const Tensor& dy,
                            const GradTarget& dw, const Tensor& workspace) {
  stream.run("conv2d_backward_weight", {x, dy}, {dw.tensor, workspace}, [=](Workers& workers) {
    const ImageGroups groups(s);
    const bool is_direct = is_written_directly(s);
    const std::int64_t positions = s.out_height() * s.out_width();
    const std::int64_t columns = num_taps(s) * s.in_channels;
    float* result = is_direct ? dw.tensor.as<float>() : workspace_floats(workspace);
    const ProductGrid grid(s.out_channels, columns);
    const ProductKernels& kernels = dense_kernels().product;
    workers.parallel_for(groups.count * grid.num_tiles(), [&](std::int64_t chunk, int) {
      const std::int64_t group = chunk / grid.num_tiles();
      const std::int64_t first = group * groups.images;
      const float* images = x.as<float>() + first * s.height * s.width * s.in_channels;
      const Product product{
          .m = s.out_channels,
          .n = columns,
          .k = (std::min(first + groups.images, s.batch) - first) * positions,
          .a = outer_columns(dy.as<float>() + first * positions * s.out_channels, s.out_channels),
          .b = input_patches(s, images, Operand::Kind::TapPatches),
          .c = result + group * s.out_channels * columns,
          .c_rows = matrix_rows(columns),
          .accumulate = is_direct && dw.accumulate,
      };
      kernels.tile(product, grid.tile(chunk % grid.num_tiles()));
    });
    if (!is_direct) fold_weight_gradient(workers, s, result, dw);
  });
}

}  // namespace shoal::kernels::host
