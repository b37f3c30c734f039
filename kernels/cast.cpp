#include "shoal/kernels/cast.h"

#include "shoal/kernels/args_check.h"
#include "shoal/kernels/host/cast.h"

namespace shoal::kernels {
namespace {

bool is_castable(DType dtype) { return dtype == DType::F32 || dtype == DType::BF16 || dtype == DType::F16; }

}  // namespace

void cast(Stream& stream, const Tensor& src, const Tensor& dst) {
  const ArgsCheck check("cast");
  check.host_stream(stream);
  for (const NamedTensor& arg : {NamedTensor{"src", src}, NamedTensor{"dst", dst}}) {
    // What is not castable is told to become fp32.
    if (!arg.tensor.is_defined() || !is_castable(arg.tensor.dtype())) check.dtype(arg, DType::F32);
  }
  check.numel({"dst", dst}, dst.dtype(), src.numel());
  check.apart({{"dst", dst}}, {{"src", src}});
  host::cast(stream, src, dst);
}

}  // namespace shoal::kernels
