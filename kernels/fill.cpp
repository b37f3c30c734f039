#include "shoal/kernels/fill.h"

#include "shoal/kernels/args_check.h"
#include "shoal/kernels/host/fill.h"

namespace shoal::kernels {

void fill(Stream& stream, const Tensor& dst, float value) {
  const ArgsCheck check("fill");
  check.host_stream(stream);
  check.dtype({"dst", dst}, DType::F32);
  host::fill(stream, dst, value);
}

void fill_random(Stream& stream, const RandomFill& fill, const Tensor& dst) {
  const ArgsCheck check("fill_random");
  check.host_stream(stream);
  check.dtype({"dst", dst}, DType::F32);
  if (fill.first_index < 0) check.reject("first_index", static_cast<double>(fill.first_index), "at least 0");
  host::fill_random(stream, fill, dst);
}

}  // namespace shoal::kernels
