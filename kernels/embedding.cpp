#include "shoal/kernels/embedding.h"

#include "shoal/kernels/args_check.h"
#include "shoal/kernels/host/embedding.h"

namespace shoal::kernels {
namespace {

/// (at least T, C).
void check_positions(const ArgsCheck& check, const NamedTensor& positions, std::int64_t num_positions,
                     std::int64_t width) {
  check.num_dims(positions, DType::F32, 2);
  const std::int64_t rows = positions.tensor.shape()[0];
  if (rows < num_positions) {
    check.reject("the number of rows of positions", static_cast<double>(rows), "at least T of ids (B, T)");
  }
  check.shape(positions, DType::F32, {rows, width});
}

}  // namespace

void embedding_forward(Stream& stream, const Tensor& ids, const Tensor& table, const Tensor& positions,
                       const Tensor& y) {
  const ArgsCheck check("embedding_forward");
  check.host_stream(stream);
  check.num_dims({"ids", ids}, DType::I32, 2);
  check.num_dims({"table", table}, DType::F32, 2);
  const std::int64_t width = table.shape()[1];
  check.shape({"y", y}, DType::F32, {ids.shape()[0], ids.shape()[1], width});
  if (positions.is_defined()) check_positions(check, {"positions", positions}, ids.shape()[1], width);
  check.apart({{"y", y}}, {{"ids", ids}, {"table", table}, {"positions", positions}});
  host::embedding_forward(stream, ids, table, positions, y);
}

void embedding_backward(Stream& stream, const Tensor& ids, const Tensor& dy, const GradTarget& dtable,
                        const GradTarget& dpositions) {
  const ArgsCheck check("embedding_backward");
  check.host_stream(stream);
  check.num_dims({"ids", ids}, DType::I32, 2);
  check.num_dims({"dy", dy}, DType::F32, 3);
  const std::int64_t width = dy.shape()[2];
  check.shape({"dy", dy}, DType::F32, {ids.shape()[0], ids.shape()[1], width});
  if (dtable.is_wanted()) {
    check.num_dims({"dtable", dtable.tensor}, DType::F32, 2);
    check.shape({"dtable", dtable.tensor}, DType::F32, {dtable.tensor.shape()[0], width});
  }
  if (dpositions.is_wanted()) check_positions(check, {"dpositions", dpositions.tensor}, ids.shape()[1], width);
  check.apart({{"dtable", dtable.tensor}, {"dpositions", dpositions.tensor}}, {{"ids", ids}, {"dy", dy}});
  host::embedding_backward(stream, ids, dy, dtable, dpositions);
}

}  // namespace shoal::kernels
