#include "shoal/kernels/host/mse_loss.h"

#include "shoal/kernels/step_block.h"

namespace shoal::kernels::host {

void mse_loss(Stream& stream, const Tensor& y, const Tensor& target, const Tensor& dy, const Tensor& block) {
  stream.run("mse_loss", {y, target}, {dy, block}, [y, target, dy, block](Workers&) {
    StepBlock& step = *step_block(block);
    const auto twice_seed = static_cast<float>(2 * step.seed);
    const auto* y_data = y.as<float>();
    const auto* target_data = target.as<float>();
    auto* dy_data = dy.as<float>();
    double loss_sum = 0;
    // One sum in index order, as the contract says: outputs of this loss are small.
    for (std::int64_t i = 0; i < y.numel(); ++i) {
      const double error = static_cast<double>(y_data[i]) - static_cast<double>(target_data[i]);
      loss_sum += error * error;
      if (dy_data != nullptr) dy_data[i] = twice_seed * (y_data[i] - target_data[i]);
    }
    step.loss_sum += loss_sum;
    step.count += static_cast<double>(y.numel());
  });
}

}  // namespace shoal::kernels::host
