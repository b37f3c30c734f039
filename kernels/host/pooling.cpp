#include "shoal/kernels/host/pooling.h"

#include <algorithm>

#include "shoal/kernels/host/isa_dispatch.h"
#include "shoal/kernels/host/spread.h"

namespace shoal::kernels::host {
namespace {

PoolShape shape_of(const Tensor& images, int window) {
  return {images.shape()[1], images.shape()[2], images.shape()[3], window};
}

/// Zeroes the rows of each image that lie below its last window.
void clear_uncovered_rows(const MaxPoolBackward& pool, std::int64_t num_images) {
  const std::int64_t row_elements = pool.shape.width * pool.shape.channels;
  const std::int64_t covered = pool.shape.height / pool.shape.window * pool.shape.window;
  for (std::int64_t image = 0; image < num_images; ++image) {
    float* begin = pool.dx + (image * pool.shape.height + covered) * row_elements;
    std::fill(begin, begin + (pool.shape.height - covered) * row_elements, 0.0f);
  }
}

}  // namespace

void max_pool_forward(Stream& stream, const Tensor& x, int window, const Tensor& y, const Tensor& argmax) {
  const MaxPoolForward pool{shape_of(x, window), x.as<float>(), y.as<float>(), argmax.as<std::uint8_t>()};
  const std::int64_t num_rows = y.numel() == 0 ? 0 : y.shape()[0] * y.shape()[1];
  stream.run("max_pool_forward", {x}, {y, argmax}, [pool, num_rows](Workers& workers) {
    const PoolShape& shape = pool.shape;
    spread_rows(workers, num_rows, shape.window * shape.width * shape.channels,
                [&](std::int64_t begin, std::int64_t end) { kernel_table().pooling.max_pool(pool, begin, end); });
  });
}

void max_pool_backward(Stream& stream, const Tensor& dy, const Tensor& argmax, int window, const GradTarget& dx) {
  const MaxPoolBackward pool{shape_of(dx.tensor, window), dy.as<float>(), argmax.as<std::uint8_t>(),
                             dx.tensor.as<float>(), dx.accumulate};
  const std::int64_t num_images = dx.tensor.shape()[0];
  const std::int64_t num_rows = num_images * (pool.shape.height / window);
  stream.run("max_pool_backward", {dy, argmax}, {dx.tensor}, [pool, num_images, num_rows](Workers& workers) {
    const PoolShape& shape = pool.shape;
    if (!pool.accumulate) clear_uncovered_rows(pool, num_images);
    spread_rows(
        workers, num_rows, shape.window * shape.width * shape.channels,
        [&](std::int64_t begin, std::int64_t end) { kernel_table().pooling.max_pool_backward(pool, begin, end); });
  });
}

void global_average_pool_forward(Stream& stream, const Tensor& x, const Tensor& y) {
  const AveragePool pool{x.as<float>(), y.as<float>(), x.shape()[1] * x.shape()[2], x.shape()[3], false};
  stream.run("global_average_pool_forward", {x}, {y}, [pool, num_images = x.shape()[0]](Workers& workers) {
    spread_rows(workers, num_images, pool.pixels * pool.channels,
                [&](std::int64_t begin, std::int64_t end) { kernel_table().pooling.average(pool, begin, end); });
  });
}

void global_average_pool_backward(Stream& stream, const Tensor& dy, const GradTarget& dx) {
  const Shape& shape = dx.tensor.shape();
  const AveragePool pool{dy.as<float>(), dx.tensor.as<float>(), shape[1] * shape[2], shape[3], dx.accumulate};
  stream.run("global_average_pool_backward", {dy}, {dx.tensor}, [pool, num_images = shape[0]](Workers& workers) {
    spread_rows(workers, num_images, pool.pixels * pool.channels, [&](std::int64_t begin, std::int64_t end) {
      kernel_table().pooling.average_backward(pool, begin, end);
    });
  });
}

}  // namespace shoal::kernels::host
