#include "shoal/kernels/host/add.h"

#include "shoal/kernels/host/isa_dispatch.h"
#include "shoal/kernels/host/spread.h"

namespace shoal::kernels::host {

void add(Stream& stream, const Tensor& a, const Tensor& b, const Tensor& y, bool relu) {
  stream.run("add", {a, b}, {y}, [a, b, y, relu](Workers& workers) {
    const auto kernel = relu ? kernel_table().add.add_relu : kernel_table().add.add;
    spread_elements(workers, y.numel(), [&](std::int64_t begin, std::int64_t end) {
      kernel(a.as<float>() + begin, b.as<float>() + begin, y.as<float>() + begin, end - begin);
    });
  });
}

}  // namespace shoal::kernels::host
