#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "shoal/runtime/fsdp/plan_check_parts.h"

namespace shoal::fsdp {
namespace {

struct Mark {
  OpKind kind;
  int unit;
  int trace_position;
};

/// The marks that a pass over the trace comes by.
std::vector<Mark> expected_marks(const PlanSubject& subject) {
  std::vector<Mark> marks = {{OpKind::PassBegin, -1, 0}};
  const auto add_module = [&](OpKind kind, const TraceEvent& event, int position) {
    const int unit = subject.input.units.unit_of_module[static_cast<std::size_t>(event.id)];
    if (unit >= 0) marks.push_back({kind, unit, position});
  };
  for (std::size_t i = 0; i < subject.trace.events.size() && subject.plan.kind != PassKind::Update; ++i) {
    const TraceEvent& event = subject.trace.events[i];
    const int position = static_cast<int>(i);
    if (event.kind == TraceKind::EnterForward) add_module(OpKind::EnterForward, event, position);
    if (event.kind == TraceKind::ExitForward) add_module(OpKind::ExitForward, event, position);
    if (event.kind == TraceKind::EnterBackward) add_module(OpKind::EnterBackward, event, position);
    if (event.kind == TraceKind::ExitBackward) add_module(OpKind::ExitBackward, event, position);
    if (event.kind == TraceKind::ForwardEnd) marks.push_back({OpKind::ForwardEnd, -1, position});
  }
  marks.push_back({OpKind::PassEnd, -1, static_cast<int>(subject.trace.events.size())});
  return marks;
}

void check_marks(const PlanSubject& subject) {
  const std::vector<Mark> expected = expected_marks(subject);
  std::size_t next = 0;
  int position = 0;  // of what follows the last mark
  for (std::size_t i = 0; i < subject.plan.ops.size(); ++i) {
    const PlanOp& op = subject.plan.ops[i];
    const int index = static_cast<int>(i);
    if (is_mark(op.kind)) {
      if (next == expected.size() || op.kind != expected[next].kind || op.unit != expected[next].unit ||
          op.trace_position != expected[next].trace_position) {
        subject.reject(fmt::format("{} is not the mark that the trace reaches next", subject.describe(index)));
      }
      position = op.kind == OpKind::PassBegin ? 0 : op.trace_position + 1;
      ++next;
    } else if (next == 0 || next == expected.size() || op.trace_position != position) {
      subject.reject(fmt::format("{} has trace position {}; it is enqueued at {}", subject.describe(index),
                                 op.trace_position, position));
    }
  }
  if (next != expected.size())
    subject.reject(fmt::format("{} of {} marks are missing", expected.size() - next, expected.size()));
}

/// The plan remembers what the trace did, for comparison when it is followed.
void check_steps(const PlanSubject& subject) {
  const std::vector<TraceEvent>& steps = subject.plan.steps;
  std::size_t next = 0;
  std::set<int> staged;
  for (const TraceEvent& event : subject.trace.events) {
    if (is_mark(event.kind) || subject.plan.kind == PassKind::Update) continue;
    if (next == steps.size() || steps[next].kind != event.kind || steps[next].id != event.id) {
      subject.reject(fmt::format("step {} is not the trace's", next));
    }
    if (event.kind == TraceKind::StageState) staged.insert(event.id);
    ++next;
  }
  if (next != steps.size()) subject.reject(fmt::format("it has {} steps and the trace {}", steps.size(), next));
  if (!std::equal(staged.begin(), staged.end(), subject.plan.staged_states.begin(), subject.plan.staged_states.end())) {
    subject.reject("it reduces other state buffers than the trace stages");
  }
}

StreamRole stream_of(OpKind kind) {
  switch (kind) {
    case OpKind::Gather:
    case OpKind::AwaitReaders:
      return StreamRole::Gather;
    case OpKind::Reduce:
    case OpKind::ReleaseGradients:
    case OpKind::ReduceSums:
    case OpKind::ReduceState:
    case OpKind::ReduceNorm:
      return StreamRole::Reduce;
    default:
      return StreamRole::Compute;
  }
}

/// What an operation is about.
enum class About { Pass, Unit, Flat };

About about(OpKind kind) {
  switch (kind) {
    case OpKind::EnterForward:
    case OpKind::ExitForward:
    case OpKind::EnterBackward:
    case OpKind::ExitBackward:
      return About::Unit;
    case OpKind::Gather:
    case OpKind::ReleaseValues:
    case OpKind::HoldGradients:
    case OpKind::FinishGradients:
    case OpKind::Reduce:
    case OpKind::ReleaseGradients:
    case OpKind::GradientNorm:
    case OpKind::Update:
    case OpKind::Publish:
      return About::Flat;
    default:
      return About::Pass;
  }
}

void check_operands(const PlanSubject& subject, int index) {
  const PlanOp& op = subject.op(index);
  const auto in_range = [](int i, std::size_t count) { return i >= 0 && static_cast<std::size_t>(i) < count; };
  const About kind = about(op.kind);
  const bool has_unit = in_range(op.unit, subject.input.units.units.size());
  const bool has_flat = in_range(op.flat, subject.input.units.flats.size());
  if (kind == About::Pass ? op.unit != -1 || op.flat != -1 : !has_unit) {
    subject.reject(fmt::format("operation {} ({}) names unit {}", index, op_kind_name(op.kind), op.unit));
  }
  if (kind == About::Unit ? op.flat != -1
                          : kind == About::Flat && (!has_flat || subject.flat(op.flat).unit != op.unit)) {
    subject.reject(fmt::format("{} names flat parameter {}", subject.describe(index), op.flat));
  }
  const bool wants_lease = subject.plan.is_sharded() && subject.plan.kind != PassKind::Update && kind == About::Flat;
  if (wants_lease ? !in_range(op.lease, subject.plan.leases.size()) : op.lease != -1) {
    subject.reject(fmt::format("{} names lease {}", subject.describe(index), op.lease));
  }
  if (op.stream != stream_of(op.kind)) {
    subject.reject(fmt::format("{} is on stream '{}' instead of '{}'", subject.describe(index),
                               stream_role_name(op.stream), stream_role_name(stream_of(op.kind))));
  }
}

/// The mark after which an operation is enqueued, and whether it is the last before the end.
struct Place {
  OpKind mark;
  int unit;
  bool is_last;
};

/// Whether the operation belongs where it is. Gathers may come anywhere: their uses say whether they come in time.
bool belongs(const PlanSubject& subject, const PlanOp& op, const Place& place) {
  const bool is_own = place.unit == op.unit;
  switch (op.kind) {
    case OpKind::ReleaseValues:
      return is_own && (place.mark == OpKind::ExitForward || place.mark == OpKind::ExitBackward);
    case OpKind::HoldGradients:
      return (is_own && place.mark == OpKind::EnterBackward) || place.is_last;
    case OpKind::FinishGradients:
    case OpKind::Reduce:
      return (is_own && place.mark == OpKind::ExitBackward) || place.is_last;
    case OpKind::ReduceSums:
    case OpKind::ReduceState:
      return place.mark == OpKind::ForwardEnd;
    case OpKind::UpdateState:
      return place.is_last;
    case OpKind::AwaitReaders:
      return subject.plan.kind == PassKind::Update || place.is_last;
    case OpKind::GradientNorm:
    case OpKind::ReduceNorm:
    case OpKind::FinishNorm:
    case OpKind::Update:
    case OpKind::Publish:
      return subject.plan.kind == PassKind::Update;
    default:
      return subject.plan.kind != PassKind::Update;
  }
}

void check_places(const PlanSubject& subject) {
  const std::vector<PlanOp>& ops = subject.plan.ops;
  const auto last_mark =
      std::find_if(std::next(ops.rbegin()), ops.rend(), [](const PlanOp& op) { return is_mark(op.kind); });
  Place place{OpKind::PassBegin, -1, false};
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (is_mark(ops[i].kind)) {
      place = {ops[i].kind, ops[i].unit, &ops[i] == &*last_mark};
    } else if (!belongs(subject, ops[i], place)) {
      subject.reject(
          fmt::format("{} does not belong after {}", subject.describe(static_cast<int>(i)), op_kind_name(place.mark)));
    }
  }
}

}  // namespace

void check_structure(const PlanSubject& subject) {
  const Plan& plan = subject.plan;
  if (plan.strategy != subject.input.policies.strategy || plan.world_size != subject.input.world_size) {
    subject.reject(fmt::format("the plan is for {} at world size {}, not {} at {}", strategy_name(plan.strategy),
                               plan.world_size, strategy_name(subject.input.policies.strategy),
                               subject.input.world_size));
  }
  if (plan.kind != PassKind::Update && (plan.kind == PassKind::Train) != subject.trace.has_backward) {
    subject.reject("the plan trains and the trace has no backward, or the other way round");
  }
  if (plan.kind != PassKind::Update && (plan.kind == PassKind::Predict) == subject.trace.has_loss) {
    subject.reject("the plan predicts and the trace has a loss, or the other way round");
  }
  check_steps(subject);
  check_marks(subject);
  for (std::size_t i = 0; i < plan.ops.size(); ++i) check_operands(subject, static_cast<int>(i));
  check_places(subject);
}

void check_events(const PlanSubject& subject) {
  const Plan& plan = subject.plan;
  std::vector<char> is_awaited(static_cast<std::size_t>(std::max(plan.num_events, 0)), 0);
  int next = 0;
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const int index = static_cast<int>(i);
    for (const int event : plan.ops[i].waits) {
      if (event < 0 || event >= next) {
        subject.reject(fmt::format("{} waits for event {}, which no earlier operation has recorded",
                                   subject.describe(index), event));
      }
      is_awaited[static_cast<std::size_t>(event)] = 1;
    }
    if (plan.ops[i].records == -1) continue;
    if (plan.ops[i].records != next || next == plan.num_events) {
      subject.reject(fmt::format("{} records event {}; the next of {} events is {}", subject.describe(index),
                                 plan.ops[i].records, plan.num_events, next));
    }
    ++next;
  }
  if (next != plan.num_events) {
    subject.reject(fmt::format("{} of {} events are recorded", next, plan.num_events));
  }
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const int event = plan.ops[i].records;
    if (event < 0 || is_awaited[static_cast<std::size_t>(event)] != 0) continue;
    subject.reject(
        fmt::format("{} records event {}, for which nobody waits", subject.describe(static_cast<int>(i)), event));
  }
}

}  // namespace shoal::fsdp
