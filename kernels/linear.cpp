#include "shoal/kernels/linear.h"

#include "shoal/kernels/args_check.h"
#include "shoal/kernels/host/linear.h"
#include "shoal/runtime/base/error.h"

namespace shoal::kernels {

void linear_forward(Stream& stream, const Tensor& x, const Tensor& w, const Tensor& bias, const Tensor& y,
                    Epilogue epilogue, const Tensor& pre) {
  const ArgsCheck check("linear_forward");
  check.host_stream(stream);
  check.num_dims({"x", x}, DType::F32, 2);
  check.num_dims({"w", w}, DType::F32, 2);
  check.shape({"w", w}, DType::F32, {w.shape()[0], x.shape()[1]});
  if (bias.is_defined()) check.shape({"bias", bias}, DType::F32, {w.shape()[0]});
  check.shape({"y", y}, DType::F32, {x.shape()[0], w.shape()[0]});
  if (pre.is_defined()) {
    if (epilogue != Epilogue::Gelu) {
      fail(ErrorCode::InvalidArgument,
           "[linear_forward] pre is given without Epilogue::Gelu, which alone writes it; "
           "pass none");
    }
    check.shape({"pre", pre}, DType::F32, y.shape());
  }
  check.apart({{"y", y}, {"pre", pre}}, {{"x", x}, {"w", w}, {"bias", bias}});
  host::linear_forward(stream, {x, w, bias, y, epilogue, pre});
}

void linear_backward_input(Stream& stream, const Tensor& dy, const Tensor& w, const GradTarget& dx) {
  const ArgsCheck check("linear_backward_input");
  check.host_stream(stream);
  if (!dx.is_wanted()) return;
  check.num_dims({"dy", dy}, DType::F32, 2);
  check.num_dims({"w", w}, DType::F32, 2);
  check.shape({"w", w}, DType::F32, {dy.shape()[1], w.shape()[1]});
  check.shape({"dx", dx.tensor}, DType::F32, {dy.shape()[0], w.shape()[1]});
  check.apart({{"dx", dx.tensor}}, {{"dy", dy}, {"w", w}});
  host::linear_backward_input(stream, dy, w, dx);
}

void linear_backward_weight(Stream& stream, const Tensor& dy, const Tensor& x, const GradTarget& dw) {
  const ArgsCheck check("linear_backward_weight");
  check.host_stream(stream);
  if (!dw.is_wanted()) return;
  check.num_dims({"dy", dy}, DType::F32, 2);
  check.num_dims({"x", x}, DType::F32, 2);
  check.shape({"x", x}, DType::F32, {dy.shape()[0], x.shape()[1]});
  check.shape({"dw", dw.tensor}, DType::F32, {dy.shape()[1], x.shape()[1]});
  check.apart({{"dw", dw.tensor}}, {{"dy", dy}, {"x", x}});
  host::linear_backward_weight(stream, dy, x, dw);
}

void linear_backward_bias(Stream& stream, const Tensor& dy, const GradTarget& db) {
  const ArgsCheck check("linear_backward_bias");
  check.host_stream(stream);
  if (!db.is_wanted()) return;
  check.num_dims({"dy", dy}, DType::F32, 2);
  check.shape({"db", db.tensor}, DType::F32, {dy.shape()[1]});
  check.apart({{"db", db.tensor}}, {{"dy", dy}});
  host::linear_backward_bias(stream, dy, db);
}

}  // namespace shoal::kernels
