#include "shoal/kernels/host/step_block.h"

namespace shoal::kernels::host {

void begin_step(Stream& stream, const StepStart& start, const Tensor& block) {
  stream.run("begin_step", {}, {block}, [start, block](Workers&) {
    StepBlock fresh{};
    fresh.seed = start.seed;
    fresh.lr = start.lr;
    fresh.step = start.step;
    fresh.max_norm = start.max_norm;
    *step_block(block) = fresh;
  });
}

}  // namespace shoal::kernels::host
