#include "shoal/kernels/host/moving_average.h"

namespace shoal::kernels::host {

void update_moving_average(Stream& stream, const Tensor& staged_sum, int num_ranks, float momentum,
                           const Tensor& running) {
  const auto divisor = static_cast<float>(num_ranks);
  stream.run("update_moving_average", {staged_sum}, {running}, [staged_sum, divisor, momentum, running](Workers&) {
    const auto* staged = staged_sum.as<float>();
    auto* average = running.as<float>();
    // A few channels: not worth another thread.
    for (std::int64_t i = 0; i < running.numel(); ++i) {
      average[i] = average[i] + momentum * (staged[i] / divisor - average[i]);
    }
  });
}

}  // namespace shoal::kernels::host
