#include "shoal/kernels/host/embedding.h"

#include <fmt/format.h>

#include <algorithm>

#include "shoal/kernels/host/isa_dispatch.h"
#include "shoal/kernels/host/spread.h"
#include "shoal/runtime/base/error.h"

namespace shoal::kernels::host {
namespace {

/// Columns of the table that one worker takes through all tokens: 512 bytes of each row.
constexpr std::int64_t kColumnsPerChunk = 128;

void check_ids(const char* op, const Tensor& ids, std::int64_t vocabulary) {
  const std::int64_t num_positions = ids.shape()[1];
  for (std::int64_t i = 0; i < ids.numel(); ++i) {
    const std::int64_t id = ids.as<std::int32_t>()[i];
    if (id >= 0 && id < vocabulary) continue;
    fail(ErrorCode::InvalidArgument, fmt::format("[{}] ids[{}, {}] is {}; V is {}, so ids must be in [0, {})", op,
                                                 i / num_positions, i % num_positions, id, vocabulary, vocabulary));
  }
}

void fill_zeros(Workers& workers, float* data, std::int64_t numel) {
  spread_elements(workers, numel, [&](std::int64_t begin, std::int64_t end) {
    kernel_table().fill.fill(data + begin, 0.0f, end - begin);
  });
}

void backward_table(Workers& workers, const EmbeddingGradient& gradient, const GradTarget& dtable) {
  if (!dtable.accumulate) fill_zeros(workers, gradient.dtable, dtable.tensor.numel());
  const std::int64_t num_rows = gradient.num_sequences * gradient.num_positions;
  const bool is_small = num_rows * gradient.width < kSpreadThreshold;
  const std::int64_t columns = is_small ? gradient.width : kColumnsPerChunk;
  if (columns == 0) return;
  workers.parallel_for(ceil_div(gradient.width, columns), [&](std::int64_t chunk, int) {
    kernel_table().embedding.add_to_table(gradient, chunk * columns, std::min((chunk + 1) * columns, gradient.width));
  });
}

void backward_positions(Workers& workers, const EmbeddingGradient& gradient, const GradTarget& dpositions) {
  spread_rows(
      workers, gradient.num_positions, gradient.num_sequences * gradient.width,
      [&](std::int64_t begin, std::int64_t end) { kernel_table().embedding.sum_positions(gradient, begin, end); });
  if (dpositions.accumulate) return;
  const std::int64_t used = gradient.num_positions * gradient.width;
  fill_zeros(workers, gradient.dpositions + used, dpositions.tensor.numel() - used);
}

}  // namespace

void embedding_forward(Stream& stream, const Tensor& ids, const Tensor& table, const Tensor& positions,
                       const Tensor& y) {
  const EmbeddingRows rows{
      .ids = ids.as<std::int32_t>(),
      .table = table.as<float>(),
      .positions = positions.as<float>(),
      .y = y.as<float>(),
      .num_positions = ids.shape()[1],
      .width = table.shape()[1],
  };
  const std::int64_t vocabulary = table.shape()[0];
  stream.run("embedding_forward", {ids, table, positions}, {y}, [rows, ids, vocabulary](Workers& workers) {
    check_ids("embedding_forward", ids, vocabulary);
    spread_rows(workers, ids.numel(), rows.width,
                [&](std::int64_t begin, std::int64_t end) { kernel_table().embedding.forward(rows, begin, end); });
  });
}

void embedding_backward(Stream& stream, const Tensor& ids, const Tensor& dy, const GradTarget& dtable,
                        const GradTarget& dpositions) {
  const EmbeddingGradient gradient{
      .ids = ids.as<std::int32_t>(),
      .dy = dy.as<float>(),
      .dtable = dtable.tensor.as<float>(),
      .dpositions = dpositions.tensor.as<float>(),
      .num_sequences = ids.shape()[0],
      .num_positions = ids.shape()[1],
      .width = dy.shape()[2],
      .accumulate_positions = dpositions.accumulate,
  };
  stream.run("embedding_backward", {ids, dy}, {dtable.tensor, dpositions.tensor},
             [gradient, ids, dtable, dpositions](Workers& workers) {
               if (dtable.is_wanted()) {
                 check_ids("embedding_backward", ids, dtable.tensor.shape()[0]);
                 backward_table(workers, gradient, dtable);
               }
               if (dpositions.is_wanted()) backward_positions(workers, gradient, dpositions);
             });
}

}  // namespace shoal::kernels::host
