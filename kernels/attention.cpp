#include "shoal/kernels/attention.h"

#include <fmt/format.h>

#include "shoal/kernels/args_check.h"
#include "shoal/kernels/host/attention.h"
#include "shoal/kernels/host/isa/attention.h"
#include "shoal/kernels/workspace.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/int_math.h"
#include "shoal/runtime/device/device.h"

namespace shoal::kernels {
namespace {

bool is_empty(const AttentionShape& s) { return s.batch == 0 || s.sequence == 0 || s.heads == 0; }

void check_shape(const char* op, const AttentionShape& s) {
  const bool is_valid =
      s.batch >= 0 && s.sequence >= 0 && s.heads >= 0 && s.head_width >= 1 && s.head_width <= host::kMaxHeadWidth;
  if (is_valid) return;
  fail(ErrorCode::InvalidArgument,
       fmt::format("[{}] batch {}, sequence {}, heads {}, head_width {}; extents must not be negative and head_width "
                   "must be in [1, {}]",
                   op, s.batch, s.sequence, s.heads, s.head_width, host::kMaxHeadWidth));
}

Shape qkv_shape(const AttentionShape& s) { return {s.batch, s.sequence, 3, s.heads, s.head_width}; }
Shape out_shape(const AttentionShape& s) { return {s.batch, s.sequence, s.heads, s.head_width}; }
Shape row_shape(const AttentionShape& s) { return {s.batch, s.heads, s.sequence}; }

}  // namespace

std::int64_t attention_backward_workspace_bytes(const AttentionShape& shape, int num_workers) {
  check_shape("attention_backward_workspace_bytes", shape);
  if (is_empty(shape)) return 0;
  const std::int64_t numel = host::AttentionScratchSizes(shape.head_width).total();
  return workspace_bytes_for(checked_mul(numel, num_workers));
}

void attention_forward(Stream& stream, const AttentionShape& shape, const Tensor& qkv, const Tensor& out,
                       const Tensor& log_sum_exp) {
  const ArgsCheck check("attention_forward");
  check.host_stream(stream);
  check_shape("attention_forward", shape);
  check.shape({"qkv", qkv}, DType::F32, qkv_shape(shape));
  check.shape({"out", out}, DType::F32, out_shape(shape));
  if (log_sum_exp.is_defined()) check.shape({"log_sum_exp", log_sum_exp}, DType::F32, row_shape(shape));
  check.apart({{"out", out}, {"log_sum_exp", log_sum_exp}}, {{"qkv", qkv}});
  host::attention_forward(stream, shape, qkv, out, log_sum_exp);
}

void attention_backward(Stream& stream, const AttentionShape& shape, const AttentionBackward& t) {
  const ArgsCheck check("attention_backward");
  check.host_stream(stream);
  check_shape("attention_backward", shape);
  check.shape({"qkv", t.qkv}, DType::F32, qkv_shape(shape));
  check.shape({"out", t.out}, DType::F32, out_shape(shape));
  check.shape({"log_sum_exp", t.log_sum_exp}, DType::F32, row_shape(shape));
  check.shape({"dout", t.dout}, DType::F32, out_shape(shape));
  check.shape({"dqkv", t.dqkv}, DType::F32, qkv_shape(shape));
  check_workspace("attention_backward", t.workspace,
                  attention_backward_workspace_bytes(shape, stream.device().num_workers()));
  check.apart({{"dqkv", t.dqkv}, {"workspace", t.workspace}},
              {{"qkv", t.qkv}, {"out", t.out}, {"log_sum_exp", t.log_sum_exp}, {"dout", t.dout}});
  host::attention_backward(stream, shape, t);
}

}  // namespace shoal::kernels
