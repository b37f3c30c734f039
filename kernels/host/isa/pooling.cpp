#include "shoal/kernels/host/isa/pooling.h"

#include "shoal/kernels/host/isa/column_sums.h"
#include "shoal/kernels/host/isa/map.h"
#include "shoal/kernels/host/isa/table_parts.h"

namespace shoal::kernels::host::SHOAL_ISA {
namespace {

/// Of one batch: the input row under output row `row` and the number of output columns.
struct PoolRow {
  std::int64_t input_row;  // over the batch
  std::int64_t num_columns;
};

[[gnu::always_inline]] inline PoolRow pool_row(const PoolShape& shape, std::int64_t row) {
  const std::int64_t rows_per_image = shape.height / shape.window;
  return {row / rows_per_image * shape.height + row % rows_per_image * shape.window, shape.width / shape.window};
}

typedef std::uint8_t NativeBytes __attribute__((vector_size(SHOAL_VECTOR_BYTES / 4)));

[[gnu::always_inline]] inline void store_bytes(std::uint8_t* p, const IntLanes& values, std::int64_t count) {
  std::uint8_t narrow[kLanes];
  for (int k = 0; k < kParts; ++k) {
    const NativeBytes part = __builtin_convertvector(values.part[k], NativeBytes);
    __builtin_memcpy(narrow + k * static_cast<int>(sizeof(part)), &part, sizeof(part));
  }
  __builtin_memcpy(p, narrow, count == kLanes ? sizeof(narrow) : static_cast<std::size_t>(count));
}

[[gnu::always_inline]] inline IntLanes load_bytes(const std::uint8_t* p) {
  IntLanes r;
  for (int k = 0; k < kParts; ++k) {
    NativeBytes part;
    __builtin_memcpy(&part, p + k * static_cast<int>(sizeof(part)), sizeof(part));
    r.part[k] = __builtin_convertvector(part, NativeInt);
  }
  return r;
}

[[gnu::always_inline]] inline IntLanes load_bytes_counted(const std::uint8_t* p, std::int64_t count) {
  if (count == kLanes) return load_bytes(p);
  std::uint8_t padded[kLanes] = {};
  __builtin_memcpy(padded, p, static_cast<std::size_t>(count));
  return load_bytes(padded);
}

/// True where x is NaN.
[[gnu::always_inline]] inline IntLanes is_nan(const Lanes& x) {
  return each_part<IntLanes>(
      x, x, [](auto a, auto b) __attribute__((always_inline)) { return a != b; });
}

/// The largest of one window for 16 channels: the first in row-major order; a NaN counts as larger than any number.
[[gnu::always_inline]] inline void pool_lanes(const MaxPoolForward& a, const float* corner, std::int64_t count,
                                              Lanes& best, IntLanes& index) {
  const std::int64_t window = a.shape.window;
  best = load_counted(corner, 0, count);
  index = splat(std::int32_t{0});
  for (std::int64_t r = 0; r < window; ++r) {
    for (std::int64_t s = 0; s < window; ++s) {
      const Lanes v = load_counted(corner + (r * a.shape.width + s) * a.shape.channels, 0, count);
      const IntLanes is_new_nan = select(is_nan(best), splat(std::int32_t{0}), is_nan(v));
      const IntLanes is_better = (best < v) | is_new_nan;
      best = select(is_better, v, best);
      index = select(is_better, splat(static_cast<std::int32_t>(r * window + s)), index);
    }
  }
}

void max_pool(const MaxPoolForward& a, std::int64_t begin, std::int64_t end) {
  const PoolShape& shape = a.shape;
  for (std::int64_t row = begin; row < end; ++row) {
    const PoolRow at = pool_row(shape, row);
    for (std::int64_t q = 0; q < at.num_columns; ++q) {
      const float* corner = a.x + (at.input_row * shape.width + q * shape.window) * shape.channels;
      const std::int64_t out = (row * at.num_columns + q) * shape.channels;
      for (std::int64_t c = 0; c < shape.channels; c += kLanes) {
        const std::int64_t count = shape.channels - c < kLanes ? shape.channels - c : kLanes;
        Lanes best;
        IntLanes index;
        pool_lanes(a, corner + c, count, best, index);
        store_counted(a.y + out + c, best, count);
        if (a.argmax != nullptr) store_bytes(a.argmax + out + c, index, count);
      }
    }
  }
}

/// One pixel of dx, at place `place` of the window whose gradients are `dy` and whose places are `argmax`.
[[gnu::always_inline]] inline void spread_pixel(const MaxPoolBackward& a, const float* dy, const std::uint8_t* argmax,
                                                std::int64_t place, float* dx) {
  const IntLanes here = splat(static_cast<std::int32_t>(place));
  const std::int64_t num_channels = a.shape.channels;
  for (std::int64_t c = 0; c < num_channels; c += kLanes) {
    const std::int64_t count = num_channels - c < kLanes ? num_channels - c : kLanes;
    const IntLanes is_here = load_bytes_counted(argmax + c, count) == here;
    Lanes value = select(is_here, load_counted(dy, c, count), splat(0.0f));
    if (a.accumulate) value = load_counted(dx, c, count) + value;
    store_counted(dx + c, value, count);
  }
}

void max_pool_backward(const MaxPoolBackward& a, std::int64_t begin, std::int64_t end) {
  const PoolShape& shape = a.shape;
  for (std::int64_t row = begin; row < end; ++row) {
    const PoolRow at = pool_row(shape, row);
    for (std::int64_t r = 0; r < shape.window; ++r) {
      float* dx = a.dx + (at.input_row + r) * shape.width * shape.channels;
      float* row_end = dx + shape.width * shape.channels;
      for (std::int64_t q = 0; q < at.num_columns; ++q) {
        const std::int64_t in = (row * at.num_columns + q) * shape.channels;
        for (std::int64_t s = 0; s < shape.window; ++s, dx += shape.channels) {
          spread_pixel(a, a.dy + in, a.argmax + in, r * shape.window + s, dx);
        }
      }
      if (a.accumulate) continue;
      for (; dx < row_end; ++dx) *dx = 0.0f;
    }
  }
}

void average(const AveragePool& a, std::int64_t begin, std::int64_t end) {
  const auto term = [&a](auto& terms, std::int64_t row, std::int64_t column, std::int64_t count)
      __attribute__((always_inline)) {
    terms[0] = load_counted(a.src + row * a.channels, column, count);
  };
  const auto divisor = static_cast<double>(a.pixels);
  for (std::int64_t image = begin; image < end; ++image) {
    for (std::int64_t first = 0; first < a.channels; first += kStripColumns) {
      const std::int64_t last = first + kStripColumns < a.channels ? first + kStripColumns : a.channels;
      double sums[kStripColumns];
      sum_columns<1>({image * a.pixels, (image + 1) * a.pixels, first, last}, sums, term);
      for (std::int64_t c = first; c < last; ++c) {
        a.dst[image * a.channels + c] = static_cast<float>(sums[c - first] / divisor);
      }
    }
  }
}

void average_backward(const AveragePool& a, std::int64_t begin, std::int64_t end) {
  const Lanes divisor = splat(static_cast<float>(a.pixels));
  const auto share = [&divisor](const Lanes& d) __attribute__((always_inline)) { return d / divisor; };
  for (std::int64_t pixel = begin * a.pixels; pixel < end * a.pixels; ++pixel) {
    const float* dy = a.src + pixel / a.pixels * a.channels;
    map_into(a.dst + pixel * a.channels, a.accumulate, a.channels, share, dy);
  }
}

}  // namespace

PoolingKernels pooling_kernels() { return {max_pool, max_pool_backward, average, average_backward}; }

}  // namespace shoal::kernels::host::SHOAL_ISA
