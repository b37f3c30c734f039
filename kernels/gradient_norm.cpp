#include "shoal/kernels/gradient_norm.h"

#include "shoal/kernels/args_check.h"
#include "shoal/kernels/host/gradient_norm.h"
#include "shoal/runtime/base/exact_sum.h"

namespace shoal::kernels {

void add_sum_squares(Stream& stream, const Tensor& data, const Tensor& words) {
  const ArgsCheck check("add_sum_squares");
  check.host_stream(stream);
  check.dtype({"data", data}, DType::F32);
  check.numel({"words", words}, DType::I64, ExactSum::kWords);
  check.apart({{"words", words}}, {{"data", data}});
  host::add_sum_squares(stream, data, words);
}

void finish_gradient_norm(Stream& stream, const Tensor& words, const Tensor& block) {
  const ArgsCheck check("finish_gradient_norm");
  check.host_stream(stream);
  check.numel({"words", words}, DType::I64, ExactSum::kWords);
  check.step_block({"block", block});
  check.apart({{"block", block}}, {{"words", words}});
  host::finish_gradient_norm(stream, words, block);
}

}  // namespace shoal::kernels
