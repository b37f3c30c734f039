#include "shoal/kernels/pooling.h"

#include "shoal/kernels/args_check.h"
#include "shoal/kernels/host/pooling.h"

namespace shoal::kernels {
namespace {

/// Places in a window are numbered in a byte.
constexpr int kMaxWindow = 16;

void check_window(const ArgsCheck& check, int window) {
  if (window < 1 || window > kMaxWindow) check.reject("window", window, "in [1, 16]");
}

/// The pooled shape of `images` (B, H, W, C).
Shape pooled(const Tensor& images, int window) {
  const Shape& shape = images.shape();
  return {shape[0], shape[1] / window, shape[2] / window, shape[3]};
}

/// `images` (B, H, W, C) with pixels to average, and `means` (B, C).
void check_average(const ArgsCheck& check, const NamedTensor& images, const NamedTensor& means) {
  check.num_dims(images, DType::F32, 4);
  const Shape& shape = images.tensor.shape();
  check.shape(means, DType::F32, {shape[0], shape[3]});
  if (means.tensor.numel() > 0 && images.tensor.numel() == 0) check.reject("H W", 0, "at least 1");
}

}  // namespace

void max_pool_forward(Stream& stream, const Tensor& x, int window, const Tensor& y, const Tensor& argmax) {
  const ArgsCheck check("max_pool_forward");
  check.host_stream(stream);
  check_window(check, window);
  check.num_dims({"x", x}, DType::F32, 4);
  check.shape({"y", y}, DType::F32, pooled(x, window));
  if (argmax.is_defined()) check.shape({"argmax", argmax}, DType::U8, y.shape());
  check.apart({{"y", y}, {"argmax", argmax}}, {{"x", x}});
  host::max_pool_forward(stream, x, window, y, argmax);
}

void max_pool_backward(Stream& stream, const Tensor& dy, const Tensor& argmax, int window, const GradTarget& dx) {
  const ArgsCheck check("max_pool_backward");
  check.host_stream(stream);
  check_window(check, window);
  if (!dx.is_wanted()) return;
  check.num_dims({"dx", dx.tensor}, DType::F32, 4);
  check.shape({"dy", dy}, DType::F32, pooled(dx.tensor, window));
  check.shape({"argmax", argmax}, DType::U8, dy.shape());
  check.apart({{"dx", dx.tensor}}, {{"dy", dy}, {"argmax", argmax}});
  host::max_pool_backward(stream, dy, argmax, window, dx);
}

void global_average_pool_forward(Stream& stream, const Tensor& x, const Tensor& y) {
  const ArgsCheck check("global_average_pool_forward");
  check.host_stream(stream);
  check_average(check, {"x", x}, {"y", y});
  check.apart({{"y", y}}, {{"x", x}});
  host::global_average_pool_forward(stream, x, y);
}

void global_average_pool_backward(Stream& stream, const Tensor& dy, const GradTarget& dx) {
  const ArgsCheck check("global_average_pool_backward");
  check.host_stream(stream);
  if (!dx.is_wanted()) return;
  check_average(check, {"dx", dx.tensor}, {"dy", dy});
  check.apart({{"dx", dx.tensor}}, {{"dy", dy}});
  host::global_average_pool_backward(stream, dy, dx);
}

}  // namespace shoal::kernels
