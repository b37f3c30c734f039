#pragma once

#include <cstdint>

#include "shoal/nn/variable.h"

namespace shoal::nn {

/// Causal attention of every head over packed queries, keys and values: out = softmax(q k^T / sqrt(D), later keys
/// masked) v. qkv (B, T, 3 C) in the order (3, heads, D) with C = heads D, or (B, T, 3, heads, D); out (B, T, C). F32.
/// Throws InvalidArgument where the features are no multiple of 3 heads.
Variable causal_attention(Context& ctx, const Variable& qkv, std::int64_t heads);

}  // namespace shoal::nn
