#pragma once

#include <cstdint>

#include "shoal/runtime/device/stream.h"
#include "shoal/runtime/tensor/tensor.h"

namespace shoal::kernels {

struct AttentionShape {
  std::int64_t batch = 0;       // B
  std::int64_t sequence = 0;    // T
  std::int64_t heads = 0;       // H
  std::int64_t head_width = 0;  // D, in [1, 512]
};

/// Scratch of the backward for `num_workers` threads, in bytes.
std::int64_t attention_backward_workspace_bytes(const AttentionShape& shape, int num_workers);

/// Causal attention: out = softmax(q k^T / sqrt(D), keys after the query masked) v, per batch entry and head, without
/// ever storing the T x T matrix. F32. qkv (B, T, 3, H, D), out (B, T, H, D), log_sum_exp (B, H, T): per query the log
/// of the softmax's denominator (of scaled scores), which the backward needs; none when no gradient is wanted.
///
/// Finite inputs of later positions never reach an earlier one. A value that is not finite may: near the mask zeros
/// multiply it, here and in the backward, and make NaN of results up to 11 positions across the mask.
void attention_forward(Stream& stream, const AttentionShape& shape, const Tensor& qkv, const Tensor& out,
                       const Tensor& log_sum_exp);

struct AttentionBackward {
  Tensor qkv;          // (B, T, 3, H, D)
  Tensor out;          // (B, T, H, D)
  Tensor log_sum_exp;  // (B, H, T)
  Tensor dout;         // (B, T, H, D)
  Tensor dqkv;         // (B, T, 3, H, D), written whole
  Tensor workspace;    // U8
};

/// dqkv = gradient with respect to qkv (always written whole). Recomputes probabilities from log_sum_exp
/// (FlashAttention-2, Dao 2023, algorithm 2); sums over queries in a fixed order.
void attention_backward(Stream& stream, const AttentionShape& shape, const AttentionBackward& tensors);

}  // namespace shoal::kernels
