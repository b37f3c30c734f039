#include "shoal/runtime/fsdp/pass_outline.h"

#include <fmt/format.h>

#include "shoal/runtime/base/error.h"

namespace shoal::fsdp {
namespace {

/// Sets `place` to `position`; it must be empty.
void set_once(int& place, int position, const Unit& unit) {
  if (place >= 0) {
    fail(ErrorCode::Unsupported,
         fmt::format("[plan_pass] unit '{}' is called more than once in a pass; mark a module that is called once "
                     "(its parent, or the modules inside it)",
                     unit.name));
  }
  place = position;
}

/// Whether the unit is entered and not left again at this point of the trace.
bool is_open(const UnitCall& call, bool is_forward) {
  return is_forward ? call.enter_forward >= 0 && call.exit_forward < 0
                    : call.enter_backward >= 0 && call.exit_backward < 0;
}

void note_use(PassOutline& outline, const PlannerInput& input, const TraceEvent& event) {
  const ParameterPlace& place = input.units.places[static_cast<std::size_t>(event.id)];
  const bool is_forward = outline.forward_end < 0;
  if (!is_open(outline.calls[static_cast<std::size_t>(place.unit)], is_forward)) {
    fail(ErrorCode::Unsupported,
         fmt::format("[plan_pass] the {} uses parameter '{}' outside of the call of its unit '{}'; call the module "
                     "that owns it, or mark as unit a module whose call contains every use",
                     is_forward ? "forward" : "backward",
                     input.model.parameters[static_cast<std::size_t>(event.id)].name,
                     input.units.units[static_cast<std::size_t>(place.unit)].name));
  }
  if (event.kind != TraceKind::UseParameter) return;
  auto& reads = is_forward ? outline.reads_forward : outline.reads_backward;
  reads[static_cast<std::size_t>(place.flat)] = 1;
}

int* place_of(UnitCall& call, TraceKind kind) {
  switch (kind) {
    case TraceKind::EnterForward:
      return &call.enter_forward;
    case TraceKind::ExitForward:
      return &call.exit_forward;
    case TraceKind::EnterBackward:
      return &call.enter_backward;
    case TraceKind::ExitBackward:
      return &call.exit_backward;
    default:
      return nullptr;
  }
}

}  // namespace

PassOutline outline_pass(const Trace& trace, const PlannerInput& input) {
  PassOutline outline;
  outline.calls.resize(input.units.units.size());
  outline.reads_forward.resize(input.units.flats.size());
  outline.reads_backward.resize(input.units.flats.size());
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const TraceEvent& event = trace.events[i];
    const auto position = static_cast<int>(i);
    if (event.kind == TraceKind::ForwardEnd) {
      outline.forward_end = position;
    } else if (event.kind == TraceKind::UseParameter || event.kind == TraceKind::WriteGradient) {
      note_use(outline, input, event);
    } else if (is_mark(event.kind)) {
      const int unit = input.units.unit_of_module[static_cast<std::size_t>(event.id)];
      if (unit < 0) continue;
      const auto u = static_cast<std::size_t>(unit);
      set_once(*place_of(outline.calls[u], event.kind), position, input.units.units[u]);
    }
  }
  if (outline.forward_end < 0) fail(ErrorCode::Internal, "[plan_pass] the trace has no end of the forward");
  return outline;
}

}  // namespace shoal::fsdp
