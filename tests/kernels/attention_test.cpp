#include "shoal/kernels/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "shoal/runtime/device/runtime.h"
#include "shoal/tests/kernels/tested_sets.h"
#include "shoal/tests/support/compare.h"
#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/grad_check.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"
#include "shoal/tests/support/reference/attention.h"

namespace shoal::kernels {
namespace {

using test::GuardedTensor;
using test::OpCase;
using test::OpOutput;
using test::reference::AttentionDims;

/// Odd ones; edges of the register block, of a tile of queries (48), of a block of keys (256, or 64 and 32 at the
/// widths of 250 and 512) and of the queries of one call (256).
const std::vector<AttentionDims> kDims = {{1, 1, 1, 1},   {2, 3, 2, 5},     {1, 7, 3, 8},   {2, 16, 1, 16},
                                          {1, 33, 2, 31}, {1, 49, 1, 64},   {2, 64, 2, 32}, {1, 97, 1, 40},
                                          {1, 257, 1, 7}, {1, 150, 1, 250}, {1, 70, 1, 512}};

AttentionShape shape_of(const AttentionDims& n) { return {n.B, n.T, n.H, n.D}; }
Shape qkv_shape(const AttentionDims& n) { return {n.B, n.T, 3, n.H, n.D}; }
Shape out_shape(const AttentionDims& n) { return {n.B, n.T, n.H, n.D}; }
Shape row_shape(const AttentionDims& n) { return {n.B, n.H, n.T}; }

std::string name_of(const char* op, const AttentionDims& n) { return std::string(op) + " " + qkv_shape(n).to_string(); }

int offset_step(const AttentionDims& n) { return n.T * n.T * n.D > 100000 ? 11 : 1; }

std::vector<float> qkv_values(const AttentionDims& n) { return test::normal_values(qkv_shape(n).numel(), 1); }

OpCase forward_case(const AttentionDims& n, const std::vector<float>& qkv) {
  OpCase op{.name = name_of("attention_forward", n), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("qkv", qkv_shape(n), qkv)};
  op.outputs = {{.name = "out", .shape = out_shape(n), .tolerance = test::kProduct},
                {.name = "log_sum_exp", .shape = row_shape(n), .tolerance = test::kProduct}};
  op.call = [n](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    attention_forward(stream, shape_of(n), in[0], out[0], out[1]);
  };
  op.reference = [n](const OpCase::Doubles& in, const OpCase::Doubles&) {
    const test::reference::AttentionOut want = test::reference::attention(n, in[0]);
    return OpCase::Doubles{want.out, want.log_sum_exp};
  };
  op.offset_step = offset_step(n);
  return op;
}

std::vector<float> as_floats(const std::vector<double>& values) { return {values.begin(), values.end()}; }

/// With out and log_sum_exp from the reference, rounded.
OpCase backward_case(const AttentionDims& n, const std::vector<float>& qkv, const std::vector<float>& dout) {
  const std::vector<double> exact(qkv.begin(), qkv.end());
  const test::reference::AttentionOut forward = test::reference::attention(n, exact);
  OpCase op{.name = name_of("attention_backward", n), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("qkv", qkv_shape(n), qkv), test::operand("out", out_shape(n), as_floats(forward.out)),
               test::operand("log_sum_exp", row_shape(n), as_floats(forward.log_sum_exp)),
               test::operand("dout", out_shape(n), dout)};
  const std::int64_t workspace_bytes = attention_backward_workspace_bytes(shape_of(n), 3);
  op.outputs = {{.name = "dqkv", .shape = qkv_shape(n), .tolerance = test::kAttentionGradient},
                {.name = "workspace", .shape = {workspace_bytes}, .dtype = DType::U8, .is_compared = false}};
  op.call = [n](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    const std::int64_t bytes = attention_backward_workspace_bytes(shape_of(n), stream.device().num_workers());
    attention_backward(stream, shape_of(n),
                       {.qkv = in[0],
                        .out = in[1],
                        .log_sum_exp = in[2],
                        .dout = in[3],
                        .dqkv = out[0],
                        .workspace = out[1].flat_slice(0, bytes)});
  };
  op.reference = [n](const OpCase::Doubles& in, const OpCase::Doubles&) {
    return OpCase::Doubles{test::reference::attention_dqkv(n, in[0], in[3]), {}};
  };
  op.offset_step = offset_step(n);
  return op;
}

TEST(Attention, Forward_MatchesTheReference) {
  for (const AttentionDims& n : kDims) test::check_op(forward_case(n, qkv_values(n)));
}

TEST(Attention, Backward_MatchesTheReference) {
  for (const AttentionDims& n : kDims) {
    test::check_op(backward_case(n, qkv_values(n), test::normal_values(out_shape(n).numel(), 2)));
  }
}

TEST(Attention, EmptyExtents_AreLegal) {
  for (const AttentionDims& n : {AttentionDims{0, 3, 2, 4}, {2, 0, 2, 4}, {2, 3, 0, 4}}) {
    EXPECT_EQ(attention_backward_workspace_bytes(shape_of(n), 2), 0);
    test::check_op(forward_case(n, {}));
    test::check_op(backward_case(n, {}, {}));
  }
}

TEST(Attention, Forward_WithoutLogSumExp_HasTheSameBits) {
  const AttentionDims n{1, 20, 2, 12};
  OpCase op = forward_case(n, qkv_values(n));
  const auto with = test::run_op_once(op);
  op.outputs.pop_back();
  op.call = [n](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    attention_forward(stream, shape_of(n), in[0], out[0], {});
  };
  EXPECT_EQ(test::run_op_once(op)[0], with[0]);
}

TEST(Attention, Forward_LargeScores_StayFiniteAndPickTheLargest) {
  // Query t and key s are 40 e_(t mod D) and 40 e_(s mod D): scores are 1600 / sqrt(D) or 0, so that exponentials
  // without the maximum taken off would overflow; a query averages the values of the keys that agree with it.
  const AttentionDims n{1, 130, 1, 4};
  std::vector<float> qkv(static_cast<std::size_t>(qkv_shape(n).numel()), 0.0f);
  for (std::int64_t t = 0; t < n.T; ++t) {
    qkv[n.qkv(0, t, 0, 0, t % n.D)] = 40;
    qkv[n.qkv(0, t, 1, 0, t % n.D)] = 40;
    for (std::int64_t d = 0; d < n.D; ++d) qkv[n.qkv(0, t, 2, 0, d)] = static_cast<float>(t % n.D + d + 1);
  }
  test::check_op(forward_case(n, qkv));
}

TEST(Attention, Forward_LaterKeys_ChangeNothing) {
  const AttentionDims n{1, 300, 1, 64};
  std::vector<float> qkv = qkv_values(n);
  const auto before = test::as_floats(test::run_op_once(forward_case(n, qkv))[0]);
  const std::int64_t first_changed = 270;
  std::fill(qkv.begin() + static_cast<std::ptrdiff_t>(n.qkv(0, first_changed, 0, 0, 0)), qkv.end(), 1e18f);
  const auto after = test::as_floats(test::run_op_once(forward_case(n, qkv))[0]);
  const auto unchanged = static_cast<std::ptrdiff_t>(n.out(0, first_changed, 0, 0));
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + unchanged, after.begin()));
  EXPECT_NE(before.back(), after.back());
}

TEST(Attention, Forward_BitsOfAHeadDoNotDependOnTheOthers) {
  const AttentionDims all{3, 60, 2, 24};
  const AttentionDims one{1, 60, 2, 24};
  const std::vector<float> qkv = qkv_values(all);
  const auto out_all = test::as_floats(test::run_op_once(forward_case(all, qkv))[0]);
  const std::vector<float> last(qkv.begin() + static_cast<std::ptrdiff_t>(all.qkv(2, 0, 0, 0, 0)), qkv.end());
  const auto out_one = test::as_floats(test::run_op_once(forward_case(one, last))[0]);
  EXPECT_EQ(out_one,
            std::vector<float>(out_all.begin() + static_cast<std::ptrdiff_t>(all.out(2, 0, 0, 0)), out_all.end()));
}

TEST(Attention, EveryInstructionSet_MatchesTheReference) {
  const AttentionDims n{1, 75, 1, 20};
  const std::vector<float> qkv = qkv_values(n);
  const std::vector<float> dout = test::normal_values(out_shape(n).numel(), 2);
  const std::vector<double> exact_qkv(qkv.begin(), qkv.end());
  const std::vector<double> exact_dout(dout.begin(), dout.end());
  const host::AttentionHead head{n.T,
                                 n.D,
                                 3 * n.D,
                                 n.D,
                                 qkv.data(),
                                 qkv.data() + n.D,
                                 qkv.data() + 2 * n.D,
                                 1 / std::sqrt(static_cast<float>(n.D))};
  for (const host::TestedSet& set : host::tested_sets()) {
    const host::AttentionKernels& kernels = set.dense->attention;
    std::vector<float> out(dout.size());
    std::vector<float> log_sum_exp(static_cast<std::size_t>(n.T));
    std::vector<float> dqkv(qkv.size());
    std::vector<float> scratch(static_cast<std::size_t>(host::AttentionScratchSizes(n.D).total()));
    kernels.forward({head, out.data(), log_sum_exp.data()}, 0, n.T);
    kernels.backward(
        {head, out.data(), dout.data(), log_sum_exp.data(), dqkv.data(), dqkv.data() + n.D, dqkv.data() + 2 * n.D},
        scratch.data());
    const auto doubles = [](const std::vector<float>& v) { return std::vector<double>(v.begin(), v.end()); };
    EXPECT_TRUE(test::is_within(doubles(out), test::reference::attention(n, exact_qkv).out, DType::F32, test::kProduct))
        << set.name;
    EXPECT_TRUE(test::is_within(doubles(dqkv), test::reference::attention_dqkv(n, exact_qkv, exact_dout), DType::F32,
                                test::kAttentionGradient))
        << set.name;
  }
}

TEST(Attention, Gradient_MatchesDifferencesOfTheReference) {
  const AttentionDims n{2, 11, 2, 6};
  const std::vector<float> qkv = qkv_values(n);
  const std::vector<float> dout = test::normal_values(out_shape(n).numel(), 5);
  const auto dqkv = test::as_floats(test::run_op_once(backward_case(n, qkv, dout))[0]);
  const auto loss = [&](std::span<const double> at) {
    const std::vector<double> out = test::reference::attention(n, at).out;
    return std::inner_product(out.begin(), out.end(), dout.begin(), 0.0);
  };
  EXPECT_TRUE(test::gradient_matches(loss, std::vector<double>(qkv.begin(), qkv.end()), dqkv, 6));
}

TEST(Attention, OnTheSimDevice_ChecksAndComputesNothing) {
  const std::unique_ptr<Device> device = Runtime().open_device(DeviceKind::Sim);
  const std::unique_ptr<Stream> stream = device->make_stream(StreamRole::Compute, "sim");
  std::int64_t next = 4096;  // addresses that nothing may read
  const auto at = [&](const Shape& shape, DType dtype = DType::F32) {
    void* const data = std::bit_cast<void*>(next);
    next += 1 << 20;
    return Tensor(data, shape, dtype);
  };
  const AttentionDims n{2, 5, 2, 4};
  const Tensor qkv = at(qkv_shape(n));
  const Tensor out = at(out_shape(n));
  const Tensor rows = at(row_shape(n));
  const Tensor workspace = at({attention_backward_workspace_bytes(shape_of(n), 1)}, DType::U8);
  attention_forward(*stream, shape_of(n), qkv, out, rows);
  attention_backward(*stream, shape_of(n), {qkv, out, rows, at(out_shape(n)), at(qkv_shape(n)), workspace});
  EXPECT_THROW(attention_forward(*stream, shape_of(n), out, out, rows), Error);
  stream->synchronize();
}

TEST(Attention, WrongArguments_AreRefusedByName) {
  test::HostStream stream;
  std::vector<float> memory(2000);
  const auto at = [&](std::int64_t offset, const Shape& shape) {
    return Tensor(memory.data() + offset, shape, DType::F32);
  };
  const AttentionShape shape{1, 4, 2, 3};
  const Tensor qkv = at(0, {1, 4, 3, 2, 3});
  const Tensor out = at(100, {1, 4, 2, 3});
  const Tensor rows = at(200, {1, 2, 4});
  const auto refused = [&](const std::vector<std::string>& texts, const std::function<void()>& call) {
    test::expect_error(ErrorCode::InvalidArgument, texts, call);
  };
  refused({"[attention_forward]", "qkv", "(1, 4, 2, 3)"}, [&] { attention_forward(*stream, shape, out, out, rows); });
  refused({"log_sum_exp", "(1, 2, 4)"}, [&] { attention_forward(*stream, shape, qkv, out, at(200, {1, 4, 2})); });
  refused({"overlap"}, [&] { attention_forward(*stream, shape, qkv, at(10, {1, 4, 2, 3}), rows); });
  refused({"head_width", "600"}, [&] { attention_forward(*stream, {1, 4, 2, 600}, qkv, out, rows); });
  AttentionBackward backward{qkv, out, rows, at(300, {1, 4, 2, 3}), at(400, {1, 4, 3, 2, 3}), {}};
  refused({"[attention_backward]", "workspace"}, [&] { attention_backward(*stream, shape, backward); });
  backward.workspace = Tensor(memory.data() + 500, {64}, DType::U8);
  refused({"workspace", "64 bytes"}, [&] { attention_backward(*stream, shape, backward); });
}

}  // namespace
}  // namespace shoal::kernels
