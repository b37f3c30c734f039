#include "shoal/runtime/fsdp/plan_print.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace shoal::fsdp {
namespace {

std::string_view pass_name(PassKind kind) {
  switch (kind) {
    case PassKind::Train:
      return "training";
    case PassKind::Evaluate:
      return "evaluation";
    case PassKind::Predict:
      return "prediction";
    case PassKind::Update:
      return "update";
  }
  return "";
}

/// "blocks.3", "blocks.3 (frozen)", or nothing.
std::string subject(const PlanOp& op, const UnitTable& units) {
  if (op.unit < 0) return "";
  const std::string& name = units.units[static_cast<std::size_t>(op.unit)].name;
  const bool is_frozen = op.flat >= 0 && !units.flats[static_cast<std::size_t>(op.flat)].is_trainable;
  return is_frozen ? name + " (frozen)" : name;
}

/// Compute at the margin, each further stream two columns in.
std::string indented_kind(const PlanOp& op) {
  return std::string(2 * static_cast<std::size_t>(op.stream), ' ') + std::string(op_kind_name(op.kind));
}

std::string lease_range(const PlanOp& op, const Plan& plan) {
  if (op.lease < 0) return "";
  const Lease& lease = plan.leases[static_cast<std::size_t>(op.lease)];
  return fmt::format("[{}, +{})", lease.offset, lease.bytes);
}

std::string event_list(const PlanOp& op) {
  std::string text;
  for (const int event : op.waits) text += fmt::format("{}e{}", text.empty() ? "waits " : " ", event);
  if (op.records >= 0) text += fmt::format("{}records e{}", text.empty() ? "" : ", ", op.records);
  return text;
}

std::string row(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += fmt::format("{:<{}}  ", cells[i], widths[i]);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string print_plan(const Plan& plan, const UnitTable& units) {
  std::vector<std::vector<std::string>> rows = {{"op", "stream", "operation", "unit", "bytes of arena", "events"}};
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const PlanOp& op = plan.ops[i];
    rows.push_back({fmt::format("{}", i), stream_role_name(op.stream), indented_kind(op), subject(op, units),
                    lease_range(op, plan), event_list(op)});
  }
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const std::vector<std::string>& cells : rows) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  std::string text = fmt::format(
      "{} pass, strategy {}, world size {}: {} operations, {} events, {} leases ({} of activations), arena of {} "
      "bytes\n",
      pass_name(plan.kind), strategy_name(plan.strategy), plan.world_size, plan.ops.size(), plan.num_events,
      plan.leases.size(), plan.num_activation_leases, plan.arena_bytes);
  for (const std::vector<std::string>& cells : rows) text += row(cells, widths);
  return text;
}

}  // namespace shoal::fsdp
