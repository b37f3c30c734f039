#include "shoal/kernels/host/sgd.h"

#include "shoal/kernels/host/isa_dispatch.h"
#include "shoal/kernels/host/spread.h"
#include "shoal/kernels/step_block.h"

namespace shoal::kernels::host {

void sgd_update(Stream& stream, const SgdUpdate& t) {
  const SgdStep fixed{
      .divisor = 1,
      .clip_factor = 1,
      .lr = 0,
      .momentum = static_cast<float>(t.momentum),
      .weight_decay = static_cast<float>(t.weight_decay),
      .is_first = false,
      .is_nesterov = t.is_nesterov,
  };
  // Without momentum nothing is read or written there, whatever was passed.
  const Tensor momentum = t.momentum == 0 ? Tensor() : t.m;
  stream.run("sgd_update", {t.g, t.block}, {t.w, momentum},
             [fixed, w = t.w, g = t.g, momentum, block = t.block](Workers& workers) {
               const StepBlock& now = *step_block(block);
               if (now.is_skipped != 0) return;
               SgdStep step = fixed;
               step.divisor = static_cast<float>(now.seed * now.count);
               step.clip_factor = static_cast<float>(now.clip_factor);
               step.lr = static_cast<float>(now.lr);
               step.is_first = now.step == 1;
               spread_elements(workers, w.numel(), [&](std::int64_t begin, std::int64_t end) {
                 float* m = momentum.is_defined() ? momentum.as<float>() + begin : nullptr;
                 kernel_table().update.sgd(step, g.as<float>() + begin, w.as<float>() + begin, m, end - begin);
               });
             });
}

}  // namespace shoal::kernels::host
