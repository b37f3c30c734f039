#include "shoal/kernels/embedding.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shoal/tests/support/fill_values.h"
#include "shoal/tests/support/guarded_tensor.h"
#include "shoal/tests/support/op_harness.h"
#include "shoal/tests/support/reference/embedding.h"

namespace shoal::kernels {
namespace {

namespace reference = test::reference;
using test::OpCase;

struct Dims {
  std::int64_t B;
  std::int64_t T;
  std::int64_t C;
  std::int64_t V;
  std::int64_t P;  // rows of the position table

  std::string to_string() const { return std::to_string(B) + "x" + std::to_string(T) + "x" + std::to_string(C); }
  reference::EmbeddingShape shape() const {
    return {static_cast<std::size_t>(B), static_cast<std::size_t>(T), static_cast<std::size_t>(C),
            static_cast<std::size_t>(V)};
  }
};
/// Few entries for many tokens, odd widths, a width over several chunks of columns, and enough rows to be shared.
const std::vector<Dims> kDims = {{0, 3, 4, 5, 3},  {2, 0, 4, 5, 3},   {1, 1, 1, 1, 1},      {2, 3, 5, 4, 7},
                                 {3, 7, 16, 2, 7}, {2, 9, 33, 50, 9}, {5, 31, 300, 11, 40}, {1, 4, 0, 5, 4}};

int offset_step(const Dims& d) { return d.B * d.T * d.C > 1000 ? 9 : 1; }

OpCase forward_case(const Dims& d, const std::vector<std::int32_t>& ids, bool has_positions) {
  OpCase op{.name = "embedding forward " + d.to_string(), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("ids", {d.B, d.T}, ids),
               test::operand("table", {d.V, d.C}, test::normal_values(d.V * d.C, 2))};
  if (has_positions) op.inputs.push_back(test::operand("positions", {d.P, d.C}, test::normal_values(d.P * d.C, 3)));
  op.outputs = {{.name = "y", .shape = {d.B, d.T, d.C}, .tolerance = test::kExact}};
  op.call = [has_positions](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    embedding_forward(stream, in[0], in[1], has_positions ? in[2] : Tensor{}, out[0]);
  };
  op.reference = [d, has_positions](const OpCase::Doubles& in, const OpCase::Doubles&) {
    return OpCase::Doubles{
        reference::embedding(d.shape(), in[0], in[1], has_positions ? in[2] : std::vector<double>{})};
  };
  op.offset_step = offset_step(d);
  return op;
}

OpCase backward_case(const Dims& d, const std::vector<std::int32_t>& ids, const std::vector<float>& dy,
                     bool accumulate) {
  OpCase op{.name = "embedding backward " + d.to_string(), .inputs = {}, .outputs = {}, .call = {}};
  op.inputs = {test::operand("ids", {d.B, d.T}, ids), test::operand("dy", {d.B, d.T, d.C}, dy)};
  op.outputs = {{.name = "dtable", .shape = {d.V, d.C}, .tolerance = test::kExact},
                {.name = "dpositions", .shape = {d.P, d.C}, .tolerance = test::kExact}};
  if (accumulate) {
    for (test::OpOutput& output : op.outputs) {
      output = test::accumulated(output, test::exact_values(output.shape.numel(), 9));
    }
  }
  op.call = [accumulate](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
    embedding_backward(stream, in[0], in[1], {out[0], accumulate}, {out[1], accumulate});
  };
  op.reference = [d](const OpCase::Doubles& in, const OpCase::Doubles& initial) {
    std::vector<double> dtable = initial[0];
    std::vector<double> dpositions = initial[1];
    dtable.resize(static_cast<std::size_t>(d.V * d.C));
    dpositions.resize(static_cast<std::size_t>(d.P * d.C));
    reference::embedding_backward(d.shape(), in[0], in[1], dtable, dpositions);
    return OpCase::Doubles{dtable, dpositions};
  };
  op.offset_step = offset_step(d);
  return op;
}

std::vector<std::int32_t> ids_for(const Dims& d) {
  return test::index_values(d.B * d.T, 1, static_cast<std::int32_t>(d.V));
}

TEST(Embedding, ForwardEqualsReferenceExactly) {
  for (const Dims& d : kDims) {
    for (const bool has_positions : {true, false}) test::check_op(forward_case(d, ids_for(d), has_positions));
  }
}

TEST(Embedding, BackwardEqualsReferenceExactly) {
  // Exact inputs: sums are exact in any order, so this compares bits.
  for (const Dims& d : kDims) {
    for (const bool accumulate : {false, true}) {
      test::check_op(backward_case(d, ids_for(d), test::exact_values(d.B * d.T * d.C, 4), accumulate));
    }
  }
}

TEST(Embedding, BackwardAddsInTokenOrder) {
  // (2^24 + 1) - 2^24 is 0; from the last token to the first, or with the 1 added last, it would be 1.
  const Dims d{1, 4, 1, 1, 4};
  const auto results = test::run_op_once(backward_case(d, {0, 0, 0, 0}, {0x1p24f, 1, -0x1p24f, 0}, false));
  EXPECT_EQ(test::as_floats(results[0]), (std::vector<float>{0}));
}

TEST(Embedding, BackwardOfRandomValuesRepeats) {
  const Dims d{3, 200, 150, 17, 200};
  OpCase op = backward_case(d, ids_for(d), test::normal_values(d.B * d.T * d.C, 5), false);
  op.reference = nullptr;
  op.offset_step = 21;
  test::check_op(op);
}

TEST(Embedding, BackwardOfOneTargetOnly) {
  const Dims d{2, 3, 5, 4, 7};
  const auto dy = test::exact_values(30, 6);
  const auto both = test::run_op_once(backward_case(d, ids_for(d), dy, false));
  for (const std::size_t only : {0, 1}) {
    OpCase op = backward_case(d, ids_for(d), dy, false);
    op.outputs = {op.outputs[only]};
    op.call = [only](Stream& stream, std::span<const Tensor> in, std::span<const Tensor> out) {
      const GradTarget wanted{out[0], false};
      embedding_backward(stream, in[0], in[1], only == 0 ? wanted : GradTarget{}, only == 1 ? wanted : GradTarget{});
    };
    EXPECT_EQ(test::run_op_once(op)[0], both[only]);
  }
}

TEST(Embedding, IdOutsideVocabulary_NamesPlaceValueAndVocabulary) {
  const Dims d{2, 3, 5, 4, 3};
  for (const std::int32_t bad : {-1, 4}) {
    const std::vector<std::int32_t> ids = {0, 1, 2, 3, bad, 0};
    const std::vector<std::string> texts = {"ids[1, 1] is " + std::to_string(bad), "V is 4"};
    test::expect_error(ErrorCode::InvalidArgument, texts, [&] { test::run_op_once(forward_case(d, ids, true)); });
    test::expect_error(ErrorCode::InvalidArgument, texts,
                       [&] { test::run_op_once(backward_case(d, ids, test::exact_values(30, 6), false)); });
  }
}

TEST(Embedding, WrongArguments_AreNamed) {
  const test::HostStream stream;
  const test::GuardedTensor ids({2, 3}, DType::I32);
  const test::GuardedTensor table({4, 5}, DType::F32);
  const test::GuardedTensor positions({2, 5}, DType::F32);
  const test::GuardedTensor y({2, 3, 5}, DType::F32);
  const test::GuardedTensor wide({2, 3, 6}, DType::F32);
  test::expect_error(ErrorCode::InvalidArgument, {"rows of positions is 2", "at least T"},
                     [&] { embedding_forward(*stream, ids.tensor(), table.tensor(), positions.tensor(), y.tensor()); });
  test::expect_error(ErrorCode::InvalidArgument, {"y has shape (2, 3, 6)", "(2, 3, 5)"},
                     [&] { embedding_forward(*stream, ids.tensor(), table.tensor(), {}, wide.tensor()); });
  test::expect_error(ErrorCode::InvalidArgument, {"dtable has shape (4, 5)", "(4, 6)"}, [&] {
    embedding_backward(*stream, ids.tensor(), wide.tensor(), {table.tensor(), false}, {});
  });
}

}  // namespace
}  // namespace shoal::kernels
