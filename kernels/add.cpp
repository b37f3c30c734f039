#include "shoal/kernels/add.h"

#include "shoal/kernels/args_check.h"
#include "shoal/kernels/host/add.h"

namespace shoal::kernels {

void add(Stream& stream, const Tensor& a, const Tensor& b, const Tensor& y, bool relu) {
  const ArgsCheck check("add");
  check.host_stream(stream);
  check.dtype({"a", a}, DType::F32);
  check.numel({"b", b}, DType::F32, a.numel());
  check.numel({"y", y}, DType::F32, a.numel());
  check.same_or_apart({"y", y}, {"a", a});
  check.same_or_apart({"y", y}, {"b", b});
  host::add(stream, a, b, y, relu);
}

}  // namespace shoal::kernels
