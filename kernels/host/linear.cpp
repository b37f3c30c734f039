#include "shoal/kernels/host/linear.h"

#include "shoal/kernels/host/column_strips.h"
#include "shoal/kernels/host/isa_dispatch.h"
#include "shoal/kernels/host/product.h"

namespace shoal::kernels::host {
namespace {

/// What turns a tile of z into y, row by row.
struct TileActivation {
  void (*activate)(const float* z, float* y, std::int64_t numel) = nullptr;
  const float* z = nullptr;
  float* y = nullptr;
  std::int64_t stride = 0;

  void operator()(const Tile& tile) const {
    if (activate == nullptr) return;
    for (std::int64_t row = tile.row_begin; row < tile.row_end; ++row) {
      const std::int64_t begin = row * stride + tile.column_begin;
      activate(z + begin, y + begin, tile.column_end - tile.column_begin);
    }
  }
};

}  // namespace

void linear_forward(Stream& stream, const LinearForward& t) {
  const std::int64_t num_inputs = t.x.shape()[1];
  const std::int64_t num_outputs = t.y.shape()[1];
  float* z = t.pre.is_defined() ? t.pre.as<float>() : t.y.as<float>();
  const Product product{
      .m = t.x.shape()[0],
      .n = num_outputs,
      .k = num_inputs,
      .a = outer_rows(t.x.as<float>(), num_inputs),
      .b = outer_rows(t.w.as<float>(), num_inputs),
      .c = z,
      .c_rows = matrix_rows(num_outputs),
      .bias = t.bias.as<float>(),
  };
  TileActivation activation{nullptr, z, t.y.as<float>(), num_outputs};
  if (t.epilogue == Epilogue::Relu) activation.activate = kernel_table().activation.relu;
  if (t.epilogue == Epilogue::Gelu) activation.activate = kernel_table().activation.gelu;
  stream.run("linear_forward", {t.x, t.w, t.bias}, {t.y, t.pre},
             [product, activation](Workers& workers) { multiply(workers, product, activation); });
}

void linear_backward_input(Stream& stream, const Tensor& dy, const Tensor& w, const GradTarget& dx) {
  const std::int64_t num_inputs = w.shape()[1];
  const std::int64_t num_outputs = w.shape()[0];
  const Product product{
      .m = dy.shape()[0],
      .n = num_inputs,
      .k = num_outputs,
      .a = outer_rows(dy.as<float>(), num_outputs),
      .b = outer_columns(w.as<float>(), num_inputs),
      .c = dx.tensor.as<float>(),
      .c_rows = matrix_rows(num_inputs),
      .accumulate = dx.accumulate,
  };
  stream.run("linear_backward_input", {dy, w}, {dx.tensor},
             [product](Workers& workers) { multiply(workers, product); });
}

void linear_backward_weight(Stream& stream, const Tensor& dy, const Tensor& x, const GradTarget& dw) {
  const std::int64_t num_inputs = x.shape()[1];
  const std::int64_t num_outputs = dy.shape()[1];
  const Product product{
      .m = num_outputs,
      .n = num_inputs,
      .k = dy.shape()[0],
      .a = outer_columns(dy.as<float>(), num_outputs),
      .b = outer_columns(x.as<float>(), num_inputs),
      .c = dw.tensor.as<float>(),
      .c_rows = matrix_rows(num_inputs),
      .accumulate = dw.accumulate,
  };
  stream.run("linear_backward_weight", {dy, x}, {dw.tensor},
             [product](Workers& workers) { multiply(workers, product); });
}

void linear_backward_bias(Stream& stream, const Tensor& dy, const GradTarget& db) {
  const std::int64_t num_rows = dy.shape()[0];
  const std::int64_t num_outputs = dy.shape()[1];
  const auto* values = dy.as<float>();
  auto* out = db.tensor.as<float>();
  const bool accumulate = db.accumulate;
  stream.run("linear_backward_bias", {dy}, {db.tensor}, [=](Workers& workers) {
    fold_columns<1>(
        workers, num_rows, num_outputs,
        [&](const ColumnRange& range, StripValues<1>& sums) {
          dense_kernels().column_total.partial(values, num_outputs, range, sums.data());
        },
        add_strip_values<1>,
        [&](const StripValues<1>& sums, const ColumnRange& strip) { write_sums(out, accumulate, sums.data(), strip); });
  });
}

}  // namespace shoal::kernels::host
