// Softmax cross-entropy, one row at a time: the largest logit, then exponentials (kept in dlogits) and their sum, then
// the gradient. A row is read from memory once; the later passes find it in a cache.

#include "shoal/kernels/host/isa/cross_entropy.h"

#include "shoal/kernels/host/isa/map.h"
#include "shoal/kernels/host/isa/row_sums.h"
#include "shoal/kernels/host/isa/table_parts.h"
#include "shoal/kernels/host/isa/vector_math.h"

namespace shoal::kernels::host::SHOAL_ISA {
namespace {

/// The largest element; NaN are passed over (the sum of exponentials brings them back).
float largest_of(const float* x, std::int64_t numel) {
  float tail = x[0];
  Lanes largest = splat(x[0]);
  std::int64_t i = 0;
  for (; i + kLanes <= numel; i += kLanes) {
    const Lanes v = load(x + i);
    largest = select(largest < v, v, largest);
  }
  for (; i < numel; ++i) tail = tail < x[i] ? x[i] : tail;
  const float body = fold_max(largest);
  return body < tail ? tail : body;
}

/// Whether no element before `index` equals x[index].
bool is_first(const float* x, std::int64_t index) {
  for (std::int64_t i = 0; i < index; ++i) {
    if (x[i] == x[index]) return false;
  }
  return true;
}

/// Sum of e^(x - largest); the exponentials go to `kept` unless that is null.
double sum_of_exponentials(const float* x, std::int64_t numel, float largest, float* kept) {
  double sum[1];
  const Lanes center = splat(largest);
  sum_row(
      numel, sum, [ x, kept, &center ](auto& sums, std::int64_t i, std::int64_t count) __attribute__((always_inline)) {
        const Lanes e = keep_counted(exp(load_counted(x, i, count) - center), count);
        if (kept != nullptr) store_counted(kept + i, e, count);
        sums[0] = sums[0] + e;
      });
  return sum[0];
}

void rows(const CrossEntropyRows& a, std::int64_t begin, std::int64_t end) {
  for (std::int64_t row = begin; row < end; ++row) {
    const float* x = a.logits + row * a.num_classes;
    float* dx = a.dlogits == nullptr ? nullptr : a.dlogits + row * a.num_classes;
    const std::int64_t target = a.targets[row];
    if (target < 0) {
      a.row_loss[row] = 0.0;
      a.row_correct[row] = 0;
      if (dx != nullptr) {
        for (std::int64_t i = 0; i < a.num_classes; ++i) dx[i] = 0.0f;
      }
      continue;
    }
    const float largest = largest_of(x, a.num_classes);
    const float target_logit = x[target];
    // Before dx, which may be x, is written. A NaN anywhere makes the sum NaN.
    const bool is_largest = target_logit == largest && is_first(x, target);
    const double sum = sum_of_exponentials(x, a.num_classes, largest, dx);
    a.row_loss[row] = __builtin_log(sum) + (static_cast<double>(largest) - static_cast<double>(target_logit));
    a.row_correct[row] = static_cast<std::uint8_t>(is_largest && sum == sum);
    if (dx == nullptr) continue;
    // In double, since p - 1 cancels for the sure winner.
    const double target_probability = static_cast<double>(dx[target]) / sum;
    const Lanes scale = splat(static_cast<float>(a.seed / sum));
    map_to(
        dx, a.num_classes, [&scale](const Lanes& e) __attribute__((always_inline)) { return e * scale; },
        static_cast<const float*>(dx));
    dx[target] = static_cast<float>(a.seed * (target_probability - 1.0));
  }
}

}  // namespace

CrossEntropyKernels cross_entropy_kernels() { return {rows}; }

}  // namespace shoal::kernels::host::SHOAL_ISA
