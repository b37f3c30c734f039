#include "shoal/tests/support/plan_notation.h"

#include <map>

namespace shoal::test {

std::string plan_notation(const fsdp::Plan& plan) {
  using fsdp::OpKind;
  static const std::map<OpKind, std::string> symbols = {
      {OpKind::PassBegin, "["},        {OpKind::PassEnd, "]"},         {OpKind::ForwardEnd, "|"},
      {OpKind::EnterForward, "f"},     {OpKind::ExitForward, "/f"},    {OpKind::EnterBackward, "b"},
      {OpKind::ExitBackward, "/b"},    {OpKind::Gather, "G"},          {OpKind::ReleaseValues, "V"},
      {OpKind::HoldGradients, "H"},    {OpKind::FinishGradients, "Z"}, {OpKind::Reduce, "R"},
      {OpKind::ReleaseGradients, "X"}, {OpKind::ReduceSums, "S"},      {OpKind::ReduceState, "T"},
      {OpKind::UpdateState, "U"},      {OpKind::GradientNorm, "N"},    {OpKind::ReduceNorm, "M"},
      {OpKind::FinishNorm, "F"},       {OpKind::AwaitReaders, "A"},    {OpKind::Update, "W"},
      {OpKind::Publish, "P"}};
  std::string text;
  for (const fsdp::PlanOp& op : plan.ops) {
    if (!text.empty()) text += " ";
    text += symbols.at(op.kind);
    if (op.unit >= 0) text += std::to_string(op.flat >= 0 ? op.flat : op.unit);
  }
  return text;
}

}  // namespace shoal::test
