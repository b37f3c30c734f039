#include "shoal/kernels/host/cast.h"

#include <cstring>

#include "shoal/kernels/host/isa_dispatch.h"
#include "shoal/kernels/host/spread.h"

namespace shoal::kernels::host {
namespace {

/// One of the table's conversions over the workers.
template <typename Src, typename Dst>
void spread_cast(Workers& workers, void (*convert)(const Src*, Dst*, std::int64_t), const Tensor& src,
                 const Tensor& dst) {
  spread_elements(workers, dst.numel(), [&](std::int64_t begin, std::int64_t end) {
    convert(src.as<Src>() + begin, dst.as<Dst>() + begin, end - begin);
  });
}

void copy_elements(Workers& workers, const Tensor& src, const Tensor& dst) {
  const std::int64_t element_bytes = dtype_bytes(dst.dtype());
  spread_elements(workers, dst.numel(), [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(dst.as<std::byte>() + begin * element_bytes, src.as<std::byte>() + begin * element_bytes,
                static_cast<std::size_t>((end - begin) * element_bytes));
  });
}

void convert(Workers& workers, const Tensor& src, const Tensor& dst) {
  const CastKernels& kernels = kernel_table().cast;
  const DType to = dst.dtype();
  if (src.dtype() == to) {
    copy_elements(workers, src, dst);
  } else if (src.dtype() == DType::F32) {
    spread_cast(workers, to == DType::BF16 ? kernels.f32_to_bf16 : kernels.f32_to_f16, src, dst);
  } else if (to == DType::F32) {
    spread_cast(workers, src.dtype() == DType::BF16 ? kernels.bf16_to_f32 : kernels.f16_to_f32, src, dst);
  } else {
    spread_cast(workers, src.dtype() == DType::BF16 ? kernels.bf16_to_f16 : kernels.f16_to_bf16, src, dst);
  }
}

}  // namespace

void cast(Stream& stream, const Tensor& src, const Tensor& dst) {
  stream.run("cast", {src}, {dst}, [src, dst](Workers& workers) { convert(workers, src, dst); });
}

}  // namespace shoal::kernels::host
