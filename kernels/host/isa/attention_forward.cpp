// Causal attention of some queries of one head. Blocks of keys pass in order; within one, a register block of queries
// at a time: scores, a running maximum and denominator (the output is rescaled where the maximum rises), then
// probabilities times values. Only keys up to the last query of a register block are visited.

#include "shoal/kernels/host/isa/attention.h"
#include "shoal/kernels/host/isa/attention_parts.h"
#include "shoal/kernels/host/isa/operand_pack.h"
#include "shoal/kernels/host/isa/register_block.h"

namespace shoal::kernels::host::SHOAL_ISA {
namespace {

constexpr std::int64_t kKeyPadding = 16;
static_assert(kKeyPadding % kNativeLanes == 0);

/// A block of keys and their values, packed.
struct KeyBlock {
  std::int64_t begin;
  std::int64_t count;
  alignas(64) float keys[kMaxKeyElements];                               // panels of keys, D deep
  alignas(64) float values[kMaxKeyElements + kPanelPadding * kMaxKeys];  // panels of columns, `count` deep

  void pack_from(const AttentionHead& head, std::int64_t from, std::int64_t to) {
    begin = from;
    count = to - from;
    const Operand k{Operand::Kind::DepthContiguous, head.k, head.stride, {}};
    const Operand v{Operand::Kind::OuterContiguous, head.v, head.stride, {}};
    pack<kRegisterColumns>(k, {begin, count, 0, head.D}, keys);
    pack<kRegisterColumns>(v, {0, head.D, begin, count}, values);
  }
};

/// The softmax's state per query.
struct RunningSoftmax {
  float maximum[kForwardQueries];  // of the unscaled scores
  float sum[kForwardQueries];
};

/// Scores of one query turned into probabilities relative to the running maximum. Keys [0, seen) count, those up to
/// `padded` (a multiple of kKeyPadding) become 0. Returns what the output so far has to be multiplied by.
[[gnu::always_inline]] inline float soften_row(float* row, std::int64_t seen, std::int64_t padded, float scale,
                                               float& maximum, float& sum) {
  const std::int64_t all_seen = seen / kNativeLanes * kNativeLanes;
  NativeFloat largest = broadcast(maximum);
  for (std::int64_t key = 0; key < all_seen; key += kNativeLanes) largest = larger(largest, load_native(row + key));
  for (std::int64_t key = all_seen; key < padded; key += kNativeLanes) {
    const NativeInt is_seen = lane_indices(static_cast<std::int32_t>(key)) < static_cast<std::int32_t>(seen);
    const NativeFloat masked = is_seen ? load_native(row + key) : broadcast(kMinusInfinity);
    store_native(row + key, masked);
    largest = larger(largest, masked);
  }
  const NativeFloat offset = largest_in_every_lane(largest);
  NativeFloat total = broadcast(0.0f);
  for (std::int64_t key = 0; key < padded; key += kNativeLanes) {
    const NativeFloat p = exp_nonpositive((load_native(row + key) - offset) * broadcast(scale));
    store_native(row + key, p);
    total = total + p;
  }
  const float old_weight = exp_nonpositive((broadcast(maximum) - offset) * broadcast(scale))[0];
  maximum = offset[0];
  sum = sum * old_weight + sum_in_every_lane(total)[0];
  return old_weight;
}

void multiply_row(float* row, std::int64_t numel, float factor) {
  std::int64_t i = 0;
  for (; i + kNativeLanes <= numel; i += kNativeLanes) {
    store_native(row + i, load_native(row + i) * broadcast(factor));
  }
  for (; i < numel; ++i) row[i] *= factor;
}

/// Queries [query, query + rows) against one block of keys.
struct QueryRows {
  std::int64_t query;
  std::int64_t rows;
  const float* panel;  // of queries
};

void attend(const AttentionForwardHead& t, const KeyBlock& block, const QueryRows& q, RunningSoftmax& state,
            std::int64_t state_row) {
  alignas(64) float scores[kRegisterRows][kMaxKeys];
  alignas(64) float panel[kRegisterRows * kMaxKeys + 4];
  const AttentionHead& head = t.head;
  const std::int64_t last =
      q.query + q.rows - block.begin;  // keys that the last of the queries sees, if there are so many
  const std::int64_t limit = last < block.count ? last : block.count;
  BlockResult score_rows{{}, nullptr, false};
  for (std::int64_t key = 0; key < limit; key += kRegisterColumns) {
    for (int i = 0; i < kRegisterRows; ++i) score_rows.row[i] = scores[i] + key;
    multiply_block(head.D, q.panel, block.keys + key * head.D, score_rows);
  }
  const std::int64_t padded = (limit + kKeyPadding - 1) / kKeyPadding * kKeyPadding;
  const float* rows[kRegisterRows];
  BlockResult out_rows{{}, nullptr, block.begin > 0};
  for (std::int64_t i = 0; i < kRegisterRows; ++i) {
    rows[i] = i < q.rows ? scores[i] : kZeros;
    if (i >= q.rows) continue;
    const float rescale = soften_row(scores[i], seen_keys(q.query + i, block.begin, limit), padded, head.scale,
                                     state.maximum[state_row + i], state.sum[state_row + i]);
    out_rows.row[i] = t.out + (q.query + i) * head.out_stride;
    if (block.begin > 0) multiply_row(out_rows.row[i], head.D, rescale);
  }
  interleave<kRegisterRows>(rows, limit, panel);
  for (std::int64_t column = 0; column < head.D; column += kRegisterColumns) {
    BlockResult result = out_rows;
    for (std::int64_t i = 0; i < q.rows; ++i) result.row[i] += column;
    multiply_any(limit, panel, block.values + column * block.count, result, q.rows, head.D - column);
  }
}

}  // namespace

void attention_forward(const AttentionForwardHead& t, std::int64_t query_begin, std::int64_t query_end) {
  alignas(64) float query_panel[kRegisterRows * kMaxHeadWidth + 4];
  KeyBlock block;
  RunningSoftmax state;
  const AttentionHead& head = t.head;
  const Operand q{Operand::Kind::DepthContiguous, head.q, head.stride, {}};
  for (std::int64_t i = 0; i < query_end - query_begin; ++i) {
    state.maximum[i] = kMinusInfinity;
    state.sum[i] = 0;
  }
  const std::int64_t keys = attention_key_block(head.D);
  for (std::int64_t begin = 0; begin < query_end; begin += keys) {
    block.pack_from(head, begin, begin + keys < query_end ? begin + keys : query_end);
    for (std::int64_t query = query_begin; query < query_end; query += kRegisterRows) {
      const std::int64_t rows = query_end - query < kRegisterRows ? query_end - query : kRegisterRows;
      if (query + rows <= begin) continue;
      pack<kRegisterRows>(q, {query, rows, 0, head.D}, query_panel);
      attend(t, block, {query, rows, query_panel}, state, query - query_begin);
    }
  }
  for (std::int64_t i = 0; i < query_end - query_begin; ++i) {
    multiply_row(t.out + (query_begin + i) * head.out_stride, head.D, 1.0f / state.sum[i]);
    if (t.log_sum_exp == nullptr) continue;
    t.log_sum_exp[query_begin + i] = head.scale * state.maximum[i] + __builtin_logf(state.sum[i]);
  }
}

}  // namespace shoal::kernels::host::SHOAL_ISA
