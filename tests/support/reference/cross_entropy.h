#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace shoal::test::reference {

struct CrossEntropy {
  std::vector<double> row_loss, row_correct, dlogits;
  double loss_sum = 0;
  double count = 0;
  double correct = 0;
};

/// Softmax cross-entropy of logits (R, V); negative targets are ignored. dlogits = seed (softmax - onehot).
inline CrossEntropy cross_entropy(const std::vector<double>& logits, const std::vector<double>& targets,
                                  std::size_t num_classes, double seed) {
  CrossEntropy out;
  out.dlogits.resize(logits.size());
  for (std::size_t row = 0; row < targets.size(); ++row) {
    out.row_loss.push_back(0);
    out.row_correct.push_back(0);
    if (targets[row] < 0) continue;
    const double* x = logits.data() + row * num_classes;
    const auto target = static_cast<std::size_t>(targets[row]);
    double largest = -INFINITY;
    std::size_t argmax = num_classes;
    bool has_nan = false;
    for (std::size_t i = 0; i < num_classes; ++i) {
      has_nan = has_nan || std::isnan(x[i]);
      if (x[i] > largest) {
        largest = x[i];
        argmax = i;
      }
    }
    double sum = 0;
    for (std::size_t i = 0; i < num_classes; ++i) sum += std::exp(x[i] - largest);
    out.row_loss.back() = std::log(sum) + (largest - x[target]);
    out.row_correct.back() = !has_nan && argmax == target ? 1 : 0;
    for (std::size_t i = 0; i < num_classes; ++i) {
      out.dlogits[row * num_classes + i] = seed * (std::exp(x[i] - largest) / sum - (i == target ? 1 : 0));
    }
    out.loss_sum += out.row_loss.back();
    out.count += 1;
    out.correct += out.row_correct.back();
  }
  return out;
}

}  // namespace shoal::test::reference
