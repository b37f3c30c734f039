#include "shoal/kernels/host/adamw.h"

#include <cmath>

#include "shoal/kernels/host/isa_dispatch.h"
#include "shoal/kernels/host/spread.h"
#include "shoal/kernels/step_block.h"

namespace shoal::kernels::host {
namespace {

struct Hyper {
  double beta1;
  double beta2;
  double epsilon;
  double weight_decay;
  bool is_decoupled;
};

AdamWStep step_of(const Hyper& hyper, const StepBlock& block) {
  const auto step = static_cast<double>(block.step);
  return {
      .divisor = static_cast<float>(block.seed * block.count),
      .clip_factor = static_cast<float>(block.clip_factor),
      .beta2 = static_cast<float>(hyper.beta2),
      .one_minus_beta1 = static_cast<float>(1 - hyper.beta1),
      .one_minus_beta2 = static_cast<float>(1 - hyper.beta2),
      .epsilon = static_cast<float>(hyper.epsilon),
      .step_size = static_cast<float>(block.lr / (1 - std::pow(hyper.beta1, step))),
      .second_correction = static_cast<float>(std::sqrt(1 - std::pow(hyper.beta2, step))),
      .decoupled_decay = hyper.is_decoupled ? static_cast<float>(block.lr * hyper.weight_decay) : 0.0f,
      .coupled_decay = hyper.is_decoupled ? 0.0f : static_cast<float>(hyper.weight_decay),
  };
}

}  // namespace

void adamw_update(Stream& stream, const AdamWUpdate& t) {
  const Hyper hyper{t.beta1, t.beta2, t.epsilon, t.weight_decay, t.is_decoupled};
  stream.run("adamw_update", {t.g, t.block}, {t.w, t.m, t.v},
             [hyper, w = t.w, g = t.g, m = t.m, v = t.v, block = t.block](Workers& workers) {
               if (step_block(block)->is_skipped != 0) return;
               const AdamWStep step = step_of(hyper, *step_block(block));
               spread_elements(workers, w.numel(), [&](std::int64_t begin, std::int64_t end) {
                 kernel_table().update.adamw(step, g.as<float>() + begin, w.as<float>() + begin, m.as<float>() + begin,
                                             v.as<float>() + begin, end - begin);
               });
             });
}

}  // namespace shoal::kernels::host
