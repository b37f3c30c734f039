#include "shoal/collectives/argument_checks.h"

#include <fmt/format.h>

#include "shoal/collectives/rank_order_sum.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/device/stream_checks.h"

namespace shoal::collectives {
namespace {

template <typename... Args>
[[noreturn]] void refuse(const char* operation, fmt::format_string<Args...> format, Args&&... args) {
  fail(ErrorCode::InvalidArgument, fmt::format("[{}] {}", operation, fmt::format(format, std::forward<Args>(args)...)));
}

std::uintptr_t address(const Tensor& tensor) { return reinterpret_cast<std::uintptr_t>(tensor.data()); }

}  // namespace

void check_defined(const char* operation, const char* role, const Tensor& tensor) {
  if (!tensor.is_defined()) refuse(operation, "{} is undefined; pass a tensor, which may have 0 elements", role);
}

void check_same_dtype(const char* operation, const char* role_a, const Tensor& a, const char* role_b, const Tensor& b) {
  if (a.dtype() == b.dtype()) return;
  refuse(operation, "{} is {} but {} is {}; the dtypes must be equal", role_a, dtype_name(a.dtype()), role_b,
         dtype_name(b.dtype()));
}

void check_summable(const char* operation, const Tensor& tensor) {
  if (is_summable(tensor.dtype())) return;
  refuse(operation, "cannot sum {}; use fp32, fp64 or i64", dtype_name(tensor.dtype()));
}

void check_rank(const char* operation, const char* role, int rank, int world_size) {
  if (rank >= 0 && rank < world_size) return;
  refuse(operation, "{} is rank {}, outside world size {}", role, rank, world_size);
}

void check_shard_count(const char* operation, const Tensor& full, const Tensor& shard, int world_size) {
  if (full.numel() % world_size != 0) {
    refuse(operation, "full has {} elements, not a multiple of world size {}", full.numel(), world_size);
  }
  if (full.numel() / world_size == shard.numel()) return;
  refuse(operation, "shard has {} elements, full {}; at world size {} the shard must have {}", shard.numel(),
         full.numel(), world_size, full.numel() / world_size);
}

void check_same_count(const char* operation, const char* role_a, const Tensor& a, const char* role_b, const Tensor& b) {
  if (a.numel() == b.numel()) return;
  refuse(operation, "{} has {} elements but {} has {}; the counts must be equal", role_a, a.numel(), role_b, b.numel());
}

void check_disjoint(const char* operation, const char* role_a, const Tensor& a, const char* role_b, const Tensor& b) {
  if (!overlap(a, b)) return;
  refuse(operation, "{} and {} overlap: [{:#x}, +{} bytes) and [{:#x}, +{} bytes)", role_a, role_b, address(a),
         a.num_bytes(), address(b), b.num_bytes());
}

bool is_own_place(const Tensor& full, const Tensor& shard, int rank) {
  return shard.num_bytes() != 0 &&
         address(shard) == address(full) + static_cast<std::uintptr_t>(rank * shard.num_bytes());
}

}  // namespace shoal::collectives
