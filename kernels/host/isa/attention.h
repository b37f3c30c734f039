#pragma once

#include <cstdint>

namespace shoal::kernels::host {

// Dims: T sequence, D head width. Rows of one head are `stride` elements apart in qkv (3 H D), `out_stride` in out (H
// D).

/// Queries that one call of the forward takes.
inline constexpr std::int64_t kForwardQueries = 256;
/// Queries of one tile of the backward, a multiple of every register block's rows.
inline constexpr std::int64_t kBackwardQueries = 48;
inline constexpr std::int64_t kMaxHeadWidth = 512;
/// The most keys of a block.
inline constexpr std::int64_t kMaxKeys = 256;
/// Elements of a block's keys, packed.
inline constexpr std::int64_t kMaxKeyElements = 16384;
/// Widths and numbers of keys are padded to this in packed form, a multiple of every register block's columns.
inline constexpr std::int64_t kPanelPadding = 32;

/// Keys of a block: as many as fit kMaxKeyElements, a multiple of kPanelPadding. A function of D alone.
constexpr std::int64_t attention_key_block(std::int64_t D) {
  const std::int64_t keys = kMaxKeyElements / (D < 1 ? 1 : D) / kPanelPadding * kPanelPadding;
  return keys < kMaxKeys ? keys : kMaxKeys;
}

/// One head of one batch entry.
struct AttentionHead {
  std::int64_t T;
  std::int64_t D;
  std::int64_t stride;
  std::int64_t out_stride;
  const float* q;  // k and v lie like q
  const float* k;
  const float* v;
  float scale;  // 1 / sqrt(D)
};

struct AttentionForwardHead {
  AttentionHead head;
  float* out;
  float* log_sum_exp;  // T floats, or null
};

struct AttentionBackwardHead {
  AttentionHead head;
  const float* out;
  const float* dout;
  const float* log_sum_exp;
  float* dq;  // dk and dv lie like dq, and like q
  float* dk;
  float* dv;
};

/// Sizes, in floats, of what the backward keeps packed, for any instruction set; each a multiple of 64 bytes.
struct AttentionScratchSizes {
  std::int64_t keys_by_key;
  std::int64_t keys_by_column;
  std::int64_t queries_by_query;
  std::int64_t queries_by_column;
  std::int64_t probabilities;
  std::int64_t panel;
  std::int64_t delta;

  explicit constexpr AttentionScratchSizes(std::int64_t D)
      : keys_by_key(round(attention_key_block(D) * D)),
        keys_by_column(round(attention_key_block(D) * pad(D))),
        queries_by_query(round(kBackwardQueries * D + kPackingOverrun)),
        queries_by_column(round(kBackwardQueries * pad(D))),
        probabilities(round(kBackwardQueries * attention_key_block(D))),
        panel(round(12 * (attention_key_block(D) > kBackwardQueries ? attention_key_block(D) : kBackwardQueries) +
                    kPackingOverrun)),
        delta(round(kBackwardQueries)) {}

  constexpr std::int64_t total() const {
    return 2 * keys_by_key + keys_by_column + 2 * queries_by_query + 2 * queries_by_column + 2 * probabilities + panel +
           delta;
  }

 private:
  static constexpr std::int64_t kPackingOverrun = 4;
  static constexpr std::int64_t round(std::int64_t numel) { return (numel + 15) / 16 * 16; }
  static constexpr std::int64_t pad(std::int64_t D) { return (D + kPanelPadding - 1) / kPanelPadding * kPanelPadding; }
};

struct AttentionKernels {
  /// Writes out and log_sum_exp of queries [query_begin, query_end), at most kForwardQueries of them.
  void (*forward)(const AttentionForwardHead& t, std::int64_t query_begin, std::int64_t query_end);
  /// Writes dq, dk, dv of the whole head. scratch: AttentionScratchSizes(D).total() floats.
  void (*backward)(const AttentionBackwardHead& t, float* scratch);
};

}  // namespace shoal::kernels::host
