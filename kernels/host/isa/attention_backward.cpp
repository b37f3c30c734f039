// Gradients of causal attention for one head (FlashAttention-2, Dao 2023, algorithm 2): blocks of keys pass in order;
// within one, tiles of queries. A tile's probabilities come from its scores and log_sum_exp; five products follow:
// scores = q k^T, dp = dout v^T, dq += ds k, dv += p^T dout, dk += ds^T q with ds = p (dp - delta) scale, delta being
// the row sums of dout out. Whatever the mask makes zero is left out by whole register blocks.

#include "shoal/kernels/host/isa/attention.h"
#include "shoal/kernels/host/isa/attention_parts.h"
#include "shoal/kernels/host/isa/operand_pack.h"
#include "shoal/kernels/host/isa/register_block.h"

namespace shoal::kernels::host::SHOAL_ISA {
namespace {

static_assert(kBackwardQueries % kRegisterRows == 0);
static_assert(kPanelPadding % kRegisterColumns == 0);

Operand rows_of(const float* data, std::int64_t stride) { return {Operand::Kind::DepthContiguous, data, stride, {}}; }
Operand columns_of(const float* data, std::int64_t stride) {
  return {Operand::Kind::OuterContiguous, data, stride, {}};
}

/// Where the parts of the scratch begin. Panels are named by what they hold side by side.
struct Scratch {
  float* k_by_key;     // panels of keys, D deep
  float* v_by_key;     // panels of keys, D deep
  float* k_by_column;  // panels of columns, keys deep
  float* q_by_query;   // register blocks of queries, D deep
  float* dout_by_query;
  float* q_by_column;  // panels of columns, queries deep
  float* dout_by_column;
  float* p;      // (queries, keys of a block)
  float* ds;     // the same
  float* panel;  // one register block's rows of p or ds
  float* delta;  // per query of a tile

  Scratch(float* next, std::int64_t D) {
    const AttentionScratchSizes sizes(D);
    const auto take = [&next](std::int64_t numel) {
      float* taken = next;
      next += numel;
      return taken;
    };
    k_by_key = take(sizes.keys_by_key);
    v_by_key = take(sizes.keys_by_key);
    k_by_column = take(sizes.keys_by_column);
    q_by_query = take(sizes.queries_by_query);
    dout_by_query = take(sizes.queries_by_query);
    q_by_column = take(sizes.queries_by_column);
    dout_by_column = take(sizes.queries_by_column);
    p = take(sizes.probabilities);
    ds = take(sizes.probabilities);
    panel = take(sizes.panel);
    delta = take(sizes.delta);
  }
};

/// One tile: queries [query, query + queries) against keys [key, key + keys).
struct TilePass {
  const AttentionBackwardHead& t;
  const Scratch& scratch;
  std::int64_t pitch;  // of rows of p and ds
  std::int64_t key;
  std::int64_t keys;
  std::int64_t query;
  std::int64_t queries;

  void pack_queries() const;
  void find_probabilities() const;
  void add_query_gradients(std::int64_t row, std::int64_t rows, std::int64_t limit) const;
  void add_key_gradients(const float* weights, const float* panels, float* gradient) const;
};

/// Sum of a[i] b[i], in kNativeLanes partial sums.
float dot(const float* a, const float* b, std::int64_t numel) {
  NativeFloat total = broadcast(0.0f);
  std::int64_t i = 0;
  for (; i + kNativeLanes <= numel; i += kNativeLanes) {
    total = multiply_add(load_native(a + i), load_native(b + i), total);
  }
  float sum = sum_in_every_lane(total)[0];
  for (; i < numel; ++i) sum += a[i] * b[i];
  return sum;
}

void TilePass::pack_queries() const {
  const AttentionHead& head = t.head;
  pack<kRegisterRows>(rows_of(head.q, head.stride), {query, queries, 0, head.D}, scratch.q_by_query);
  pack<kRegisterRows>(rows_of(t.dout, head.out_stride), {query, queries, 0, head.D}, scratch.dout_by_query);
  pack<kRegisterColumns>(columns_of(head.q, head.stride), {0, head.D, query, queries}, scratch.q_by_column);
  pack<kRegisterColumns>(columns_of(t.dout, head.out_stride), {0, head.D, query, queries}, scratch.dout_by_column);
  for (std::int64_t i = 0; i < queries; ++i) {
    const float* out = t.out + (query + i) * head.out_stride;
    const float* dout = t.dout + (query + i) * head.out_stride;
    scratch.delta[i] = dot(out, dout, head.D);
  }
}

/// What the probabilities and their gradients of one query are made with.
struct RowFactors {
  float scale;
  float log_sum_exp;
  float delta;
};

/// scores and dp of one query become p and ds: keys [0, seen) count, the others up to `padded` become 0.
[[gnu::always_inline]] inline void differentiate_row(float* p_row, float* ds_row, std::int64_t seen,
                                                     std::int64_t padded, const RowFactors& f) {
  const auto differentiate = [&](std::int64_t key, NativeInt is_seen) {
    const NativeFloat exponent = multiply_add(load_native(p_row + key), broadcast(f.scale), broadcast(-f.log_sum_exp));
    // A score may round to a little above log_sum_exp, which exp_nonpositive bears.
    const NativeFloat p = exp_nonpositive(exponent);
    const NativeFloat ds = p * (load_native(ds_row + key) - broadcast(f.delta)) * broadcast(f.scale);
    store_native(p_row + key, is_seen ? p : broadcast(0.0f));
    store_native(ds_row + key, is_seen ? ds : broadcast(0.0f));
  };
  std::int64_t key = 0;
  for (; key + kNativeLanes <= seen; key += kNativeLanes) differentiate(key, ~NativeInt{});
  if (key < seen) {
    differentiate(key, lane_indices(static_cast<std::int32_t>(key)) < static_cast<std::int32_t>(seen));
    key += kNativeLanes;
  }
  for (; key < padded; key += kNativeLanes) {
    store_native(p_row + key, broadcast(0.0f));
    store_native(ds_row + key, broadcast(0.0f));
  }
}

void TilePass::find_probabilities() const {
  const AttentionHead& head = t.head;
  // What add_key_gradients reads: keys up to the tile's last query, in whole register blocks. `pitch` is a multiple of
  // the vector's lanes.
  const std::int64_t tile_limit = seen_keys(query + queries - 1, key, keys) + kRegisterRows;
  const std::int64_t padded = tile_limit < pitch ? tile_limit : pitch;
  for (std::int64_t row = 0; row < queries; row += kRegisterRows) {
    const std::int64_t rows = queries - row < kRegisterRows ? queries - row : kRegisterRows;
    const std::int64_t limit = seen_keys(query + row + rows - 1, key, keys);
    BlockResult scores{{}, nullptr, false};
    BlockResult dp{{}, nullptr, false};
    for (std::int64_t column = 0; column < limit; column += kRegisterColumns) {
      for (int i = 0; i < kRegisterRows; ++i) {
        scores.row[i] = scratch.p + (row + i) * pitch + column;
        dp.row[i] = scratch.ds + (row + i) * pitch + column;
      }
      multiply_block(head.D, scratch.q_by_query + row * head.D, scratch.k_by_key + column * head.D, scores);
      multiply_block(head.D, scratch.dout_by_query + row * head.D, scratch.v_by_key + column * head.D, dp);
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      const RowFactors factors{head.scale, t.log_sum_exp[query + row + i], scratch.delta[row + i]};
      differentiate_row(scratch.p + (row + i) * pitch, scratch.ds + (row + i) * pitch,
                        seen_keys(query + row + i, key, keys), padded, factors);
    }
    if (limit > 0) add_query_gradients(row, rows, limit);
  }
}

void TilePass::add_query_gradients(std::int64_t row, std::int64_t rows, std::int64_t limit) const {
  const AttentionHead& head = t.head;
  const float* ds_rows[kRegisterRows];
  for (std::int64_t i = 0; i < kRegisterRows; ++i) ds_rows[i] = i < rows ? scratch.ds + (row + i) * pitch : kZeros;
  interleave<kRegisterRows>(ds_rows, limit, scratch.panel);
  BlockResult dq{{}, nullptr, key > 0};
  for (std::int64_t column = 0; column < head.D; column += kRegisterColumns) {
    for (std::int64_t i = 0; i < rows; ++i) dq.row[i] = t.dq + (query + row + i) * head.stride + column;
    multiply_any(limit, scratch.panel, scratch.k_by_column + column * keys, dq, rows, head.D - column);
  }
}

/// gradient (+)= weights^T panels for the tile's keys: weights are p or ds, panels dout or q by column.
void TilePass::add_key_gradients(const float* weights, const float* panels, float* gradient) const {
  const AttentionHead& head = t.head;
  const std::int64_t limit = seen_keys(query + queries - 1, key, keys);
  for (std::int64_t row = 0; row < limit; row += kRegisterRows) {
    const std::int64_t rows = keys - row < kRegisterRows ? keys - row : kRegisterRows;
    // Queries before the register block's first key give nothing. A tile that holds or follows that key's own query
    // is the first to give something to it.
    const std::int64_t first = key + row > query ? key + row - query : 0;
    pack<kRegisterRows>(columns_of(weights, pitch), {row, rows, first, queries - first}, scratch.panel);
    BlockResult result{{}, nullptr, query > key + row};
    for (std::int64_t column = 0; column < head.D; column += kRegisterColumns) {
      for (std::int64_t i = 0; i < rows; ++i) result.row[i] = gradient + (key + row + i) * head.stride + column;
      multiply_any(queries - first, scratch.panel, panels + column * queries + first * kRegisterColumns, result, rows,
                   head.D - column);
    }
  }
}

}  // namespace

void attention_backward(const AttentionBackwardHead& t, float* scratch_begin) {
  const AttentionHead& head = t.head;
  const std::int64_t block = attention_key_block(head.D);
  const Scratch scratch(scratch_begin, head.D);
  for (std::int64_t key = 0; key < head.T; key += block) {
    const std::int64_t keys = head.T - key < block ? head.T - key : block;
    pack<kRegisterColumns>(rows_of(head.k, head.stride), {key, keys, 0, head.D}, scratch.k_by_key);
    pack<kRegisterColumns>(rows_of(head.v, head.stride), {key, keys, 0, head.D}, scratch.v_by_key);
    pack<kRegisterColumns>(columns_of(head.k, head.stride), {0, head.D, key, keys}, scratch.k_by_column);
    const std::int64_t first_query = key / kBackwardQueries * kBackwardQueries;
    for (std::int64_t query = first_query; query < head.T; query += kBackwardQueries) {
      const std::int64_t queries = head.T - query < kBackwardQueries ? head.T - query : kBackwardQueries;
      const TilePass pass{t, scratch, block, key, keys, query, queries};
      pass.pack_queries();
      pass.find_probabilities();
      pass.add_key_gradients(scratch.p, scratch.dout_by_column, t.dv);
      pass.add_key_gradients(scratch.ds, scratch.q_by_column, t.dk);
    }
  }
}

}  // namespace shoal::kernels::host::SHOAL_ISA
