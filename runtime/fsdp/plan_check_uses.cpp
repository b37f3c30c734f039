#include <fmt/format.h>

#include <algorithm>

#include "shoal/runtime/fsdp/plan_check_parts.h"

namespace shoal::fsdp {
namespace {

enum class GradientState { None, Held, Finished, Reduced };

/// Follows a pass as the host does and keeps track of what is held.
class UseCheck {
 public:
  UseCheck(const PlanSubject& subject, const EnqueueOrder& order)
      : subject_(subject),
        order_(order),
        values_(subject.input.units.flats.size(), -1),
        gradients_(subject.input.units.flats.size(), GradientState::None),
        gradient_lease_(subject.input.units.flats.size(), -1),
        is_ahead_(subject.input.units.units.size(), 0) {}

  void run() {
    const auto num_events = static_cast<int>(subject_.trace.events.size());
    int event = 0;
    for (int i = 0; i < static_cast<int>(subject_.plan.ops.size()); ++i) {
      for (; event < num_events &&
             order_.of_event[static_cast<std::size_t>(event)] < order_.of_op[static_cast<std::size_t>(i)];
           ++event) {
        follow_event(event);
      }
      follow_op(i);
    }
  }

 private:
  void follow_event(int position) {
    const TraceEvent& event = subject_.trace.events[static_cast<std::size_t>(position)];
    if (event.kind != TraceKind::UseParameter && event.kind != TraceKind::WriteGradient) return;
    const ParameterPlace& place = subject_.input.units.places[static_cast<std::size_t>(event.id)];
    const auto flat = static_cast<std::size_t>(place.flat);
    const auto what = [&] {
      return fmt::format("parameter '{}' of unit '{}' at trace position {}",
                         subject_.input.model.parameters[static_cast<std::size_t>(event.id)].name,
                         subject_.unit(place.unit).name, position);
    };
    if (event.kind == TraceKind::UseParameter) {
      if (subject_.plan.is_sharded() && values_[flat] < 0)
        subject_.reject(what() + " is read while it is not gathered");
      return;
    }
    const GradientState needed = subject_.plan.is_sharded() ? GradientState::Held : GradientState::None;
    if (gradients_[flat] != needed) subject_.reject("the gradient of " + what() + " is written while it is not held");
  }

  void follow_op(int index) {
    const PlanOp& op = subject_.op(index);
    const auto flat = static_cast<std::size_t>(std::max(op.flat, 0));
    switch (op.kind) {
      case OpKind::EnterForward:
      case OpKind::EnterBackward:
        is_ahead_[static_cast<std::size_t>(op.unit)] = 0;
        break;
      case OpKind::Gather:
        if (values_[flat] >= 0) subject_.reject(subject_.describe(index) + " gathers what is gathered already");
        values_[flat] = op.lease;
        follow_gather(index);
        break;
      case OpKind::ReleaseValues:
        if (values_[flat] != op.lease) subject_.reject(subject_.describe(index) + " gives back what is not held");
        values_[flat] = -1;
        break;
      case OpKind::HoldGradients:
        advance(index, GradientState::None, GradientState::Held);
        gradient_lease_[flat] = op.lease;
        break;
      case OpKind::FinishGradients:
        advance(index, subject_.plan.is_sharded() ? GradientState::Held : GradientState::None, GradientState::Finished);
        break;
      case OpKind::Reduce:
        advance(index, GradientState::Finished, GradientState::Reduced);
        break;
      case OpKind::ReleaseGradients:
        advance(index, GradientState::Reduced, GradientState::Reduced);
        break;
      default:
        break;
    }
  }

  void advance(int index, GradientState from, GradientState to) {
    const PlanOp& op = subject_.op(index);
    const auto flat = static_cast<std::size_t>(op.flat);
    const bool is_first = op.kind == OpKind::HoldGradients || !subject_.plan.is_sharded();
    if (gradients_[flat] != from || (!is_first && gradient_lease_[flat] != op.lease)) {
      subject_.reject(subject_.describe(index) +
                      " comes out of turn: gradients are held, finished, reduced, given back");
    }
    gradients_[flat] = to;
  }

  void follow_gather(int index) {
    const PlanOp& op = subject_.op(index);
    if (!subject_.unit(op.unit).is_leaf) return;
    is_ahead_[static_cast<std::size_t>(op.unit)] = 1;
    // Without prefetch a unit is still gathered just before it is entered.
    const auto num_ahead = std::count(is_ahead_.begin(), is_ahead_.end(), 1);
    const int allowed = std::max(1, subject_.input.policies.prefetch);
    if (num_ahead > allowed) {
      subject_.reject(fmt::format("{} is gathered while {} leaf units are gathered and not entered; at most {} may be",
                                  subject_.describe(index), num_ahead - 1, allowed));
    }
  }

  const PlanSubject& subject_;
  const EnqueueOrder& order_;
  std::vector<int> values_;  // the lease held, by flat parameter; -1: none
  std::vector<GradientState> gradients_;
  std::vector<int> gradient_lease_;
  std::vector<char> is_ahead_;  // by unit: gathered and not entered
};

/// Whether each flat parameter's values are read in a phase, 0 or 1.
struct Reads {
  std::vector<char> forward, backward;
};

Reads find_reads(const PlanSubject& subject) {
  Reads reads;
  reads.forward.resize(subject.input.units.flats.size());
  reads.backward.resize(subject.input.units.flats.size());
  bool is_forward = true;
  for (const TraceEvent& event : subject.trace.events) {
    if (event.kind == TraceKind::ForwardEnd) is_forward = false;
    if (event.kind != TraceKind::UseParameter) continue;
    const int flat = subject.input.units.places[static_cast<std::size_t>(event.id)].flat;
    (is_forward ? reads.forward : reads.backward)[static_cast<std::size_t>(flat)] = 1;
  }
  return reads;
}

/// Operations of one kind, by flat parameter, or one entry where they are about the whole pass.
void expect(const PlanSubject& subject, OpKind kind, const std::vector<int>& expected) {
  std::vector<int> counted(expected.size(), 0);
  int total = 0;
  for (const PlanOp& op : subject.plan.ops) {
    if (op.kind != kind) continue;
    ++counted[static_cast<std::size_t>(std::max(op.flat, 0))];
    ++total;
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (counted[i] == expected[i]) continue;
    subject.reject(fmt::format("{} {} operations of flat parameter {} instead of {} ({} in all)", counted[i],
                               op_kind_name(kind), i, expected[i], total));
  }
}

}  // namespace

void check_uses(const PlanSubject& subject, const EnqueueOrder& order) { UseCheck(subject, order).run(); }

void check_counts(const PlanSubject& subject) {
  const Plan& plan = subject.plan;
  const bool trains = plan.kind == PassKind::Train;
  const bool updates = plan.kind == PassKind::Update;
  const bool sends = plan.world_size > 1;
  const Reads reads = find_reads(subject);
  const std::size_t num_flats = subject.input.units.flats.size();
  std::vector<int> gathers(num_flats), trainable(num_flats), none(num_flats);
  for (std::size_t f = 0; f < num_flats; ++f) {
    const FlatParameter& flat = subject.input.units.flats[f];
    const int both = reads.forward[f] + reads.backward[f];
    gathers[f] = subject.unit(flat.unit).is_leaf ? both : std::min(both, 1);
    trainable[f] = flat.is_trainable ? 1 : 0;
  }
  const std::vector<int>& gathered = plan.is_sharded() && !updates ? gathers : none;
  const std::vector<int>& trained = trains ? trainable : none;
  const std::vector<int>& updated = updates ? trainable : none;
  expect(subject, OpKind::Gather, gathered);
  expect(subject, OpKind::ReleaseValues, gathered);
  expect(subject, OpKind::FinishGradients, trained);
  expect(subject, OpKind::Reduce, sends ? trained : none);
  expect(subject, OpKind::HoldGradients, plan.is_sharded() ? trained : none);
  expect(subject, OpKind::ReleaseGradients, plan.is_sharded() ? trained : none);
  expect(subject, OpKind::GradientNorm, updated);
  expect(subject, OpKind::Update, updated);
  expect(subject, OpKind::Publish, plan.is_sharded() ? updated : none);
  const bool has_state = !plan.staged_states.empty();
  const bool has_loss = !updates && plan.kind != PassKind::Predict;
  expect(subject, OpKind::ReduceSums, {has_loss && sends ? 1 : 0});
  expect(subject, OpKind::ReduceState, {has_state && sends ? 1 : 0});
  expect(subject, OpKind::UpdateState, {has_state ? 1 : 0});
  expect(subject, OpKind::ReduceNorm, {updates && plan.is_sharded() ? 1 : 0});
  expect(subject, OpKind::FinishNorm, {updates ? 1 : 0});
  expect(subject, OpKind::AwaitReaders, {!trains && plan.is_sharded() ? 1 : 0});
}

}  // namespace shoal::fsdp
