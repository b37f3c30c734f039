#include "shoal/kernels/host/attention.h"

#include <algorithm>
#include <cmath>

#include "shoal/kernels/host/dense_dispatch.h"
#include "shoal/kernels/workspace.h"
#include "shoal/runtime/base/int_math.h"

namespace shoal::kernels::host {
namespace {

/// The inputs of head `index` of B * H.
AttentionHead head_at(const AttentionShape& s, const float* qkv, std::int64_t index) {
  const std::int64_t width = s.heads * s.head_width;
  const std::int64_t batch = index / s.heads;
  const std::int64_t head = index % s.heads;
  const float* q = qkv + batch * s.sequence * 3 * width + head * s.head_width;
  return {
      .T = s.sequence,
      .D = s.head_width,
      .stride = 3 * width,
      .out_stride = width,
      .q = q,
      .k = q + width,
      .v = q + 2 * width,
      .scale = static_cast<float>(1 / std::sqrt(static_cast<double>(s.head_width))),
  };
}

/// Where head `index` begins in a (B, T, H, D) array.
std::int64_t out_offset(const AttentionShape& s, std::int64_t index) {
  return (index / s.heads * s.sequence * s.heads + index % s.heads) * s.head_width;
}

}  // namespace

void attention_forward(Stream& stream, const AttentionShape& shape, const Tensor& qkv, const Tensor& out,
                       const Tensor& log_sum_exp) {
  stream.run("attention_forward", {qkv}, {out, log_sum_exp}, [=](Workers& workers) {
    const std::int64_t num_parts = ceil_div(shape.sequence, kForwardQueries);
    workers.parallel_for(shape.batch * shape.heads * num_parts, [&](std::int64_t chunk, int) {
      const std::int64_t index = chunk / num_parts;
      const std::int64_t query = chunk % num_parts * kForwardQueries;
      float* head_log_sum_exp = log_sum_exp.is_defined() ? log_sum_exp.as<float>() + index * shape.sequence : nullptr;
      const AttentionForwardHead head{head_at(shape, qkv.as<float>(), index),
                                      out.as<float>() + out_offset(shape, index), head_log_sum_exp};
      dense_kernels().attention.forward(head, query, std::min(query + kForwardQueries, shape.sequence));
    });
  });
}

void attention_backward(Stream& stream, const AttentionShape& shape, const AttentionBackward& t) {
  stream.run("attention_backward", {t.qkv, t.out, t.log_sum_exp, t.dout}, {t.dqkv, t.workspace},
             [shape, t](Workers& workers) {
               const std::int64_t width = shape.heads * shape.head_width;
               const std::int64_t scratch_numel = AttentionScratchSizes(shape.head_width).total();
               workers.parallel_for(shape.batch * shape.heads, [&](std::int64_t index, int worker) {
                 const AttentionHead head = head_at(shape, t.qkv.as<float>(), index);
                 float* dq = t.dqkv.as<float>() + (head.q - t.qkv.as<float>());
                 const std::int64_t out_begin = out_offset(shape, index);
                 const AttentionBackwardHead backward{
                     .head = head,
                     .out = t.out.as<float>() + out_begin,
                     .dout = t.dout.as<float>() + out_begin,
                     .log_sum_exp = t.log_sum_exp.as<float>() + index * shape.sequence,
                     .dq = dq,
                     .dk = dq + width,
                     .dv = dq + 2 * width,
                 };
                 dense_kernels().attention.backward(backward, workspace_floats(t.workspace) + worker * scratch_numel);
               });
             });
}

}  // namespace shoal::kernels::host
