#include "shoal/kernels/host/gradient_norm.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "shoal/kernels/host/isa_dispatch.h"
#include "shoal/kernels/host/spread.h"
#include "shoal/kernels/step_block.h"
#include "shoal/runtime/base/exact_sum.h"

namespace shoal::kernels::host {
namespace {

/// Parts that are summed on their own and then together: more than any rank has workers, few enough for the stack.
/// Being exact, the result does not depend on their number.
constexpr std::int64_t kMaxParts = 32;
/// Groups whose sums are held at once.
constexpr std::int64_t kGroupsAtOnce = 64;

void add_range(const float* data, std::int64_t numel, ExactSum& total) {
  std::array<double, kGroupsAtOnce> sums;
  constexpr std::int64_t kElementsAtOnce = kGroupsAtOnce * kSquareGroup;
  for (std::int64_t begin = 0; begin < numel; begin += kElementsAtOnce) {
    const std::int64_t count = std::min(kElementsAtOnce, numel - begin);
    kernel_table().sum_squares.groups(data + begin, count, sums.data());
    const std::int64_t num_groups = ceil_div(count, kSquareGroup);
    for (std::int64_t k = 0; k < num_groups; ++k) total.add(sums[static_cast<std::size_t>(k)]);
  }
}

ExactSum load_words(const Tensor& words) {
  ExactSum sum;
  std::copy_n(words.as<std::int64_t>(), ExactSum::kWords, sum.words());
  return sum;
}

}  // namespace

void add_sum_squares(Stream& stream, const Tensor& data, const Tensor& words) {
  stream.run("add_sum_squares", {data}, {words}, [data, words](Workers& workers) {
    const std::int64_t numel = data.numel();
    const std::int64_t num_parts = std::clamp<std::int64_t>(numel / kChunkElements, 1, kMaxParts);
    const std::int64_t part_elements = round_up(ceil_div(numel, num_parts), kSquareGroup);
    std::array<ExactSum, kMaxParts> parts{};
    workers.parallel_for(num_parts, [&](std::int64_t part, int) {
      const std::int64_t begin = std::min(part * part_elements, numel);
      const std::int64_t end = std::min(begin + part_elements, numel);
      add_range(data.as<float>() + begin, end - begin, parts[static_cast<std::size_t>(part)]);
    });
    ExactSum total = load_words(words);
    for (std::int64_t part = 0; part < num_parts; ++part) total.add(parts[static_cast<std::size_t>(part)]);
    std::copy_n(total.words(), ExactSum::kWords, words.as<std::int64_t>());
  });
}

void finish_gradient_norm(Stream& stream, const Tensor& words, const Tensor& block) {
  stream.run("finish_gradient_norm", {words}, {block}, [words, block](Workers&) {
    StepBlock& step = *step_block(block);
    const double norm = std::sqrt(load_words(words).value()) / (step.seed * step.count);
    const double ratio = step.max_norm / norm;
    step.grad_norm = norm;
    // Not min(): without a gradient, or without a limit that it exceeds, nothing is clipped.
    step.clip_factor = ratio < 1 ? ratio : 1;
    step.is_skipped = !std::isfinite(norm) || step.count == 0 ? 1 : 0;
  });
}

}  // namespace shoal::kernels::host
