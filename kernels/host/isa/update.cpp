// Optimizer updates: plain loops, whose operations the compiler may spread over vector lanes but neither fuse nor
// reorder (-ffp-contract=off, no -ffast-math), so each element has the same bits wherever it lies.

#include "shoal/kernels/host/isa/update.h"

#include "shoal/kernels/host/isa/table_parts.h"

namespace shoal::kernels::host::SHOAL_ISA {
namespace {

template <bool kIsDecoupled>
void adamw_loop(const AdamWStep& step, const float* __restrict g_all, float* __restrict w_all, float* __restrict m_all,
                float* __restrict v_all, std::int64_t numel) {
  const AdamWStep s = step;
  for (std::int64_t i = 0; i < numel; ++i) {
    float g = (g_all[i] / s.divisor) * s.clip_factor;
    float w = w_all[i];
    if constexpr (kIsDecoupled) {
      w = w - s.decoupled_decay * w;
    } else {
      g = g + s.coupled_decay * w;
    }
    const float m = m_all[i] + s.one_minus_beta1 * (g - m_all[i]);
    const float v = s.beta2 * v_all[i] + s.one_minus_beta2 * (g * g);
    w_all[i] = w - (s.step_size * m) / (__builtin_sqrtf(v) / s.second_correction + s.epsilon);
    m_all[i] = m;
    v_all[i] = v;
  }
}

void adamw(const AdamWStep& step, const float* g, float* w, float* m, float* v, std::int64_t numel) {
  if (step.coupled_decay == 0.0f) {
    adamw_loop<true>(step, g, w, m, v, numel);
  } else {
    adamw_loop<false>(step, g, w, m, v, numel);
  }
}

void sgd_plain(const SgdStep& step, const float* __restrict g_all, float* __restrict w_all, std::int64_t numel) {
  const SgdStep s = step;
  for (std::int64_t i = 0; i < numel; ++i) {
    const float g = (g_all[i] / s.divisor) * s.clip_factor + s.weight_decay * w_all[i];
    w_all[i] = w_all[i] - s.lr * g;
  }
}

template <bool kIsFirst, bool kIsNesterov>
void sgd_momentum(const SgdStep& step, const float* __restrict g_all, float* __restrict w_all, float* __restrict m_all,
                  std::int64_t numel) {
  const SgdStep s = step;
  for (std::int64_t i = 0; i < numel; ++i) {
    const float g = (g_all[i] / s.divisor) * s.clip_factor + s.weight_decay * w_all[i];
    const float m = kIsFirst ? g : s.momentum * m_all[i] + g;
    w_all[i] = w_all[i] - s.lr * (kIsNesterov ? g + s.momentum * m : m);
    m_all[i] = m;
  }
}

void sgd(const SgdStep& step, const float* g, float* w, float* m, std::int64_t numel) {
  if (m == nullptr) {
    sgd_plain(step, g, w, numel);
  } else if (step.is_first) {
    step.is_nesterov ? sgd_momentum<true, true>(step, g, w, m, numel) : sgd_momentum<true, false>(step, g, w, m, numel);
  } else {
    step.is_nesterov ? sgd_momentum<false, true>(step, g, w, m, numel)
                     : sgd_momentum<false, false>(step, g, w, m, numel);
  }
}

}  // namespace

UpdateKernels update_kernels() { return {adamw, sgd}; }

}  // namespace shoal::kernels::host::SHOAL_ISA
