#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace shoal::test::reference {

struct AdamW {
  double lr, beta1, beta2, epsilon, weight_decay;
  bool is_decoupled;
  double step;
};

/// One step in double; `grad` is already divided and clipped.
inline void adamw(const AdamW& o, const std::vector<double>& grad, std::vector<double>& w, std::vector<double>& m,
                  std::vector<double>& v) {
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double g = o.is_decoupled ? grad[i] : grad[i] + o.weight_decay * w[i];
    if (o.is_decoupled) w[i] -= o.lr * o.weight_decay * w[i];
    m[i] = o.beta1 * m[i] + (1 - o.beta1) * g;
    v[i] = o.beta2 * v[i] + (1 - o.beta2) * g * g;
    const double mean = m[i] / (1 - std::pow(o.beta1, o.step));
    const double square = v[i] / (1 - std::pow(o.beta2, o.step));
    w[i] -= o.lr * mean / (std::sqrt(square) + o.epsilon);
  }
}

struct Sgd {
  double lr, momentum, weight_decay;
  bool is_nesterov;
  double step;
};

inline void sgd(const Sgd& o, const std::vector<double>& grad, std::vector<double>& w, std::vector<double>& m) {
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double g = grad[i] + o.weight_decay * w[i];
    double direction = g;
    if (o.momentum != 0) {
      m[i] = o.step == 1 ? g : o.momentum * m[i] + g;
      direction = o.is_nesterov ? g + o.momentum * m[i] : m[i];
    }
    w[i] -= o.lr * direction;
  }
}

}  // namespace shoal::test::reference
