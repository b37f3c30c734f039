#pragma once

#include <cstdint>

namespace shoal::kernels::host {

/// The step's numbers as fp32, each rounded once from double.
struct AdamWStep {
  float divisor;  // seed * count
  float clip_factor;
  float beta2;
  float one_minus_beta1;  // 1 - beta1
  float one_minus_beta2;
  float epsilon;
  float step_size;          // lr / (1 - beta1^t)
  float second_correction;  // sqrt(1 - beta2^t)
  float decoupled_decay;    // lr * weight_decay, or 0
  float coupled_decay;      // 0, or weight_decay
};

struct SgdStep {
  float divisor;
  float clip_factor;
  float lr;
  float momentum;
  float weight_decay;
  bool is_first;
  bool is_nesterov;
};

struct UpdateKernels {
  void (*adamw)(const AdamWStep& step, const float* g, float* w, float* m, float* v, std::int64_t numel);
  /// m is null without momentum.
  void (*sgd)(const SgdStep& step, const float* g, float* w, float* m, std::int64_t numel);
};

}  // namespace shoal::kernels::host
