#include "shoal/kernels/workspace.h"

#include <fmt/format.h>

#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/int_math.h"

namespace shoal::kernels {

std::int64_t workspace_bytes_for(std::int64_t numel) {
  return numel == 0 ? 0 : checked_mul(numel, static_cast<std::int64_t>(sizeof(float))) + 63;
}

void check_workspace(const char* op, const Tensor& workspace, std::int64_t wanted_bytes) {
  if (wanted_bytes == 0) return;
  if (workspace.is_defined() && workspace.dtype() == DType::U8 && workspace.num_bytes() >= wanted_bytes) return;
  fail(ErrorCode::InvalidArgument,
       fmt::format("[{}] workspace is {} bytes of {}; it must be u8 of at least {} bytes", op, workspace.num_bytes(),
                   workspace.is_defined() ? dtype_name(workspace.dtype()) : "nothing", wanted_bytes));
}

}  // namespace shoal::kernels
