#include "shoal/kernels/moving_average.h"

#include "shoal/kernels/args_check.h"
#include "shoal/kernels/host/moving_average.h"

namespace shoal::kernels {

void update_moving_average(Stream& stream, const Tensor& staged_sum, int num_ranks, float momentum,
                           const Tensor& running) {
  const ArgsCheck check("update_moving_average");
  check.host_stream(stream);
  check.dtype({"running", running}, DType::F32);
  check.numel({"staged_sum", staged_sum}, DType::F32, running.numel());
  if (num_ranks < 1) check.reject("num_ranks", num_ranks, "at least 1");
  check.apart({{"running", running}}, {{"staged_sum", staged_sum}});
  host::update_moving_average(stream, staged_sum, num_ranks, momentum, running);
}

}  // namespace shoal::kernels
