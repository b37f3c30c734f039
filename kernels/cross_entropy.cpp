#include "shoal/kernels/cross_entropy.h"

#include "shoal/kernels/args_check.h"
#include "shoal/kernels/host/cross_entropy.h"

namespace shoal::kernels {

void cross_entropy(Stream& stream, const CrossEntropy& t) {
  const ArgsCheck check("cross_entropy");
  check.host_stream(stream);
  check.num_dims({"logits", t.logits}, DType::F32, 2);
  const Shape per_row{t.logits.shape()[0]};
  check.shape({"targets", t.targets}, DType::I32, per_row);
  check.shape({"row_loss", t.row_loss}, DType::F64, per_row);
  check.shape({"row_correct", t.row_correct}, DType::U8, per_row);
  check.step_block({"block", t.block});
  if (t.dlogits.is_defined()) {
    check.shape({"dlogits", t.dlogits}, DType::F32, t.logits.shape());
    check.same_or_apart({"dlogits", t.dlogits}, {"logits", t.logits});
  }
  check.apart({{"dlogits", t.dlogits}, {"row_loss", t.row_loss}, {"row_correct", t.row_correct}, {"block", t.block}},
              {{"targets", t.targets}});
  check.apart({{"row_loss", t.row_loss}, {"row_correct", t.row_correct}, {"block", t.block}}, {{"logits", t.logits}});
  host::cross_entropy(stream, t);
}

}  // namespace shoal::kernels
