#include "shoal/kernels/host/cross_entropy.h"

#include <fmt/format.h>

#include "shoal/kernels/host/isa_dispatch.h"
#include "shoal/kernels/host/spread.h"
#include "shoal/kernels/step_block.h"
#include "shoal/runtime/base/error.h"

namespace shoal::kernels::host {
namespace {

void check_targets(const CrossEntropyRows& rows, std::int64_t num_rows) {
  for (std::int64_t row = 0; row < num_rows; ++row) {
    if (rows.targets[row] < rows.num_classes) continue;
    fail(ErrorCode::InvalidArgument,
         fmt::format("[cross_entropy] the target of row {} is {}; V is {}, so targets must be below it, or negative to "
                     "ignore the row",
                     row, rows.targets[row], rows.num_classes));
  }
}

/// Row results in row order, each row once.
void add_to_block(const CrossEntropyRows& rows, std::int64_t num_rows, StepBlock& block) {
  double loss_sum = 0;
  std::int64_t count = 0;
  std::int64_t correct = 0;
  for (std::int64_t row = 0; row < num_rows; ++row) {
    if (rows.targets[row] < 0) continue;
    loss_sum += rows.row_loss[row];
    ++count;
    correct += rows.row_correct[row];
  }
  block.loss_sum += loss_sum;
  block.count += static_cast<double>(count);
  block.correct += static_cast<double>(correct);
}

}  // namespace

void cross_entropy(Stream& stream, const CrossEntropy& t) {
  const CrossEntropyRows by_address{
      .logits = t.logits.as<float>(),
      .targets = t.targets.as<std::int32_t>(),
      .dlogits = t.dlogits.as<float>(),
      .row_loss = t.row_loss.as<double>(),
      .row_correct = t.row_correct.as<std::uint8_t>(),
      .num_classes = t.logits.shape()[1],
      .seed = 0,  // known when the task runs
  };
  const std::int64_t num_rows = t.logits.shape()[0];
  const Tensor block = t.block;
  stream.run("cross_entropy", {t.logits, t.targets}, {t.dlogits, t.row_loss, t.row_correct, t.block},
             [by_address, num_rows, block](Workers& workers) {
               CrossEntropyRows rows = by_address;
               rows.seed = step_block(block)->seed;
               check_targets(rows, num_rows);
               spread_rows(workers, num_rows, rows.num_classes, [&](std::int64_t begin, std::int64_t end) {
                 kernel_table().cross_entropy.rows(rows, begin, end);
               });
               add_to_block(rows, num_rows, *step_block(block));
             });
}

}  // namespace shoal::kernels::host
