#include "shoal/runtime/fsdp/trace_cursor.h"

#include <fmt/core.h>

namespace shoal::fsdp {

std::string TraceCursor::describe_next(const UnitTable& units) const {
  if (is_at_end()) return "ends";
  const TraceEvent& step = plan_->steps[next_];
  const auto name = [&] { return units.segment_of(units.places[static_cast<std::size_t>(step.id)]).name; };
  switch (step.kind) {
    case TraceKind::UseParameter:
      return fmt::format("uses '{}'", name());
    case TraceKind::WriteGradient:
      return fmt::format("writes the gradient of '{}'", name());
    case TraceKind::StageState:
      return fmt::format("stages state buffer {}", step.id);
    case TraceKind::Acquire:
      return fmt::format("acquires lease {}", step.id);
    default:
      return fmt::format("gives lease {} back", step.id);
  }
}

}  // namespace shoal::fsdp
