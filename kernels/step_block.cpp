#include "shoal/kernels/step_block.h"

#include <cstddef>

#include "shoal/kernels/args_check.h"
#include "shoal/kernels/host/step_block.h"

namespace shoal::kernels {

// The three sums lead the block and lie side by side: they travel as one tensor.
static_assert(offsetof(StepBlock, loss_sum) == 0 && offsetof(StepBlock, count) == 8 &&
              offsetof(StepBlock, correct) == 16);

Tensor step_sums(const Tensor& block) {
  ArgsCheck("step_sums").step_block({"block", block});
  return {block.data(), Shape{3}, DType::F64};
}

void begin_step(Stream& stream, const StepStart& start, const Tensor& block) {
  const ArgsCheck check("begin_step");
  check.host_stream(stream);
  check.step_block({"block", block});
  if (start.step < 1) check.reject("step", static_cast<double>(start.step), "at least 1");
  if (!(start.max_norm > 0)) check.reject("max_norm", start.max_norm, "above 0; infinity clips nothing");
  host::begin_step(stream, start, block);
}

}  // namespace shoal::kernels
