#pragma once

#include <cstdint>

#include "shoal/runtime/tensor/tensor.h"

namespace shoal::collectives {

/// Each throws InvalidArgument with a message that starts with "[operation]".

/// `role` is the argument's name in messages.
void check_defined(const char* operation, const char* role, const Tensor& tensor);

void check_same_dtype(const char* operation, const char* role_a, const Tensor& a, const char* role_b, const Tensor& b);

/// F32, F64 or I64.
void check_summable(const char* operation, const Tensor& tensor);

void check_rank(const char* operation, const char* role, int rank, int world_size);

/// full.numel == world_size * shard.numel.
void check_shard_count(const char* operation, const Tensor& full, const Tensor& shard, int world_size);

void check_same_count(const char* operation, const char* role_a, const Tensor& a, const char* role_b, const Tensor& b);

void check_disjoint(const char* operation, const char* role_a, const Tensor& a, const char* role_b, const Tensor& b);

/// Whether `shard` lies at its own place in `full`: begins at full + rank * shard.numel. False for empty shards.
bool is_own_place(const Tensor& full, const Tensor& shard, int rank);

}  // namespace shoal::collectives
