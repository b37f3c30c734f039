#include "shoal/runtime/fsdp/pass_planner.h"

#include <fmt/format.h>

#include <algorithm>

#include "shoal/runtime/base/dtype.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/fsdp/pass_outline.h"

namespace shoal::fsdp {
namespace {

/// Leaf units that are gathered for one phase, in the order in which they are entered.
struct GatherQueue {
  std::vector<int> units;
  std::size_t num_gathered = 0;
  std::size_t num_entered = 0;
};

/// Walks the trace and writes the operations down. Idea of the order: whatever an operation at a mark makes possible
/// comes right after the mark, gathers before reductions, so that communication is enqueued before the compute that
/// hides it.
class PassPlanner {
 public:
  PassPlanner(const Trace& trace, const PlannerInput& input)
      : trace_(trace), input_(input), outline_(outline_pass(trace, input)) {
    plan_.kind = trace.has_backward ? PassKind::Train : trace.has_loss ? PassKind::Evaluate : PassKind::Predict;
    plan_.strategy = input.policies.strategy;
    plan_.world_size = input.world_size;
    add_activation_leases();
    add_steps();
    values_lease_.assign(input.units.flats.size(), -1);
    gradients_lease_.assign(input.units.flats.size(), -1);
    is_finished_.assign(input.units.flats.size(), 0);
    is_gathered_.assign(input.units.units.size(), 0);
    forward_queue_.units = leaves_by(&UnitCall::enter_forward, &PassPlanner::has_forward_lease);
    backward_queue_.units = leaves_by(&UnitCall::enter_backward, &PassPlanner::has_backward_lease);
  }

  Plan run() {
    add(OpKind::PassBegin, StreamRole::Compute);
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      const TraceEvent& event = trace_.events[i];
      position_ = static_cast<int>(i);
      if (event.kind == TraceKind::ForwardEnd) {
        end_forward();
      } else if (is_mark(event.kind)) {
        const int unit = input_.units.unit_of_module[static_cast<std::size_t>(event.id)];
        if (unit >= 0) visit(event.kind, unit);
      }
    }
    finish();
    return std::move(plan_);
  }

 private:
  const Unit& unit(int u) const { return input_.units.units[static_cast<std::size_t>(u)]; }
  const FlatParameter& flat(int f) const { return input_.units.flats[static_cast<std::size_t>(f)]; }
  bool is_trainable(int f) const { return plan_.kind == PassKind::Train && flat(f).is_trainable; }

  // A flat parameter is gathered for the forward, for the backward, or for both at once where its unit encloses others.
  bool has_forward_lease(int f) const {
    return plan_.is_sharded() && outline_.reads_forward[static_cast<std::size_t>(f)] != 0;
  }
  bool is_kept(int f) const {
    return has_forward_lease(f) && outline_.reads_backward[static_cast<std::size_t>(f)] != 0 &&
           !unit(flat(f).unit).is_leaf;
  }
  bool has_backward_lease(int f) const {
    return plan_.is_sharded() && outline_.reads_backward[static_cast<std::size_t>(f)] != 0 && !is_kept(f);
  }

  std::vector<int> leaves_by(int UnitCall::*entry, bool (PassPlanner::*has_lease)(int) const) const {
    std::vector<int> leaves;
    for (std::size_t u = 0; u < input_.units.units.size(); ++u) {
      const std::vector<int>& flats = input_.units.units[u].flats;
      const bool is_gathered = std::any_of(flats.begin(), flats.end(), [&](int f) { return (this->*has_lease)(f); });
      if (input_.units.units[u].is_leaf && is_gathered) leaves.push_back(static_cast<int>(u));
    }
    std::sort(leaves.begin(), leaves.end(), [&](int a, int b) {
      return outline_.calls[static_cast<std::size_t>(a)].*entry < outline_.calls[static_cast<std::size_t>(b)].*entry;
    });
    return leaves;
  }

  void add_activation_leases() {
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      const TraceEvent& event = trace_.events[i];
      if (event.kind == TraceKind::Acquire) {
        plan_.leases.push_back({.tag = event.tag,
                                .bytes = event.bytes,
                                .begin = static_cast<int>(i),
                                .end = static_cast<int>(trace_.events.size())});
      } else if (event.kind == TraceKind::Release) {
        plan_.leases[static_cast<std::size_t>(event.id)].end = static_cast<int>(i);
      }
    }
    plan_.num_activation_leases = static_cast<int>(plan_.leases.size());
  }

  void add_steps() {
    for (const TraceEvent& event : trace_.events) {
      if (is_mark(event.kind)) continue;
      plan_.steps.push_back(event);
      if (event.kind == TraceKind::StageState) plan_.staged_states.push_back(event.id);
    }
    std::sort(plan_.staged_states.begin(), plan_.staged_states.end());
    plan_.staged_states.erase(std::unique(plan_.staged_states.begin(), plan_.staged_states.end()),
                              plan_.staged_states.end());
  }

  void add(OpKind kind, StreamRole stream, int u = -1, int f = -1, int lease = -1) {
    PlanOp op{.kind = kind, .stream = stream, .unit = u, .flat = f, .lease = lease};
    if (kind == OpKind::PassEnd) {
      op.trace_position = static_cast<int>(trace_.events.size());
    } else if (kind == OpKind::PassBegin) {
      op.trace_position = 0;
    } else if (is_mark(kind)) {
      op.trace_position = position_;
      after_mark_ = position_ + 1;
    } else {
      op.trace_position = after_mark_;
    }
    plan_.ops.push_back(std::move(op));
  }

  int add_lease(MemoryTag tag, int f) {
    plan_.leases.push_back({.tag = tag,
                            .bytes = flat(f).layout.full_numel() * dtype_bytes(DType::F32),
                            .unit = flat(f).unit,
                            .flat = f,
                            .begin = static_cast<int>(plan_.ops.size()),
                            .end = -1});
    return static_cast<int>(plan_.leases.size()) - 1;
  }
  void end_lease(int lease) { plan_.leases[static_cast<std::size_t>(lease)].end = static_cast<int>(plan_.ops.size()); }

  void gather(int u, bool (PassPlanner::*has_lease)(int) const) {
    for (const int f : unit(u).flats) {
      if (!(this->*has_lease)(f)) continue;
      const int lease = add_lease(MemoryTag::UnshardedParameters, f);
      values_lease_[static_cast<std::size_t>(f)] = lease;
      add(OpKind::Gather, StreamRole::Gather, u, f, lease);
    }
  }
  void gather_ahead(GatherQueue& queue, std::size_t count, bool (PassPlanner::*has_lease)(int) const) {
    const std::size_t end = std::min(queue.units.size(), count);
    for (; queue.num_gathered < end; ++queue.num_gathered) {
      const int u = queue.units[queue.num_gathered];
      // What encloses the unit is entered before it, and would otherwise wait for a gather of its own.
      if (&queue == &forward_queue_) gather_enclosing(unit(u).parent);
      gather(u, has_lease);
    }
  }
  void gather_enclosing(int u) {
    if (u < 0 || is_gathered_[static_cast<std::size_t>(u)] != 0) return;
    gather_enclosing(unit(u).parent);
    if (unit(u).is_leaf) return;  // above in the tree, but called on its own
    is_gathered_[static_cast<std::size_t>(u)] = 1;
    gather(u, &PassPlanner::has_forward_lease);
  }

  // The mark at which a unit's compute begins, with the gathers that belong before and after it.
  void enter(OpKind mark, int u, GatherQueue& queue, bool (PassPlanner::*has_lease)(int) const) {
    const bool is_next = queue.num_entered < queue.units.size() && queue.units[queue.num_entered] == u;
    const auto prefetch = static_cast<std::size_t>(input_.policies.prefetch);
    if (mark == OpKind::EnterForward && !unit(u).is_leaf) gather_enclosing(u);
    if (mark == OpKind::EnterBackward && !unit(u).is_leaf) gather(u, has_lease);
    if (mark == OpKind::EnterForward && queue.num_gathered == 0) gather_ahead(queue, prefetch, has_lease);
    if (is_next) gather_ahead(queue, ++queue.num_entered, has_lease);
    add(mark, StreamRole::Compute, u);
    if (mark == OpKind::EnterBackward && plan_.is_sharded()) hold_gradients(u);
    if (is_next) gather_ahead(queue, queue.num_entered + prefetch, has_lease);
  }

  void visit(TraceKind kind, int u) {
    if (kind == TraceKind::EnterForward) {
      enter(OpKind::EnterForward, u, forward_queue_, &PassPlanner::has_forward_lease);
    } else if (kind == TraceKind::ExitForward) {
      add(OpKind::ExitForward, StreamRole::Compute, u);
      release_values(u, true);
    } else if (kind == TraceKind::EnterBackward) {
      enter(OpKind::EnterBackward, u, backward_queue_, &PassPlanner::has_backward_lease);
    } else {
      add(OpKind::ExitBackward, StreamRole::Compute, u);
      release_values(u, false);
      std::vector<int> reduced;
      for (const int f : unit(u).flats) {
        if (is_trainable(f)) reduce(f, reduced);
      }
      release_gradients();
      held_gradients_ = std::move(reduced);
    }
  }

  void release_values(int u, bool keeps) {
    for (const int f : unit(u).flats) {
      int& lease = values_lease_[static_cast<std::size_t>(f)];
      if (lease < 0 || (keeps && is_kept(f))) continue;
      end_lease(lease);
      add(OpKind::ReleaseValues, StreamRole::Compute, u, f, lease);
      lease = -1;
    }
  }

  void hold_gradients(int u) {
    for (const int f : unit(u).flats) {
      if (!is_trainable(f)) continue;
      const int lease = add_lease(MemoryTag::UnshardedGradients, f);
      gradients_lease_[static_cast<std::size_t>(f)] = lease;
      add(OpKind::HoldGradients, StreamRole::Compute, u, f, lease);
    }
  }

  void reduce(int f, std::vector<int>& reduced) {
    const int lease = gradients_lease_[static_cast<std::size_t>(f)];
    add(OpKind::FinishGradients, StreamRole::Compute, flat(f).unit, f, lease);
    if (plan_.world_size > 1) add(OpKind::Reduce, StreamRole::Reduce, flat(f).unit, f, lease);
    if (lease >= 0) reduced.push_back(f);
    is_finished_[static_cast<std::size_t>(f)] = 1;
  }

  // One unit later than possible: whoever takes these bytes next waits for the reduction, which has had the whole
  // backward of a unit to finish.
  void release_gradients() {
    for (const int f : held_gradients_) {
      const int lease = gradients_lease_[static_cast<std::size_t>(f)];
      end_lease(lease);
      add(OpKind::ReleaseGradients, StreamRole::Reduce, flat(f).unit, f, lease);
    }
    held_gradients_.clear();
  }

  void end_forward() {
    add(OpKind::ForwardEnd, StreamRole::Compute);
    gather_ahead(backward_queue_, static_cast<std::size_t>(input_.policies.prefetch), &PassPlanner::has_backward_lease);
    if (plan_.world_size == 1) return;
    if (plan_.kind != PassKind::Predict) add(OpKind::ReduceSums, StreamRole::Reduce);
    if (updates_state()) add(OpKind::ReduceState, StreamRole::Reduce);
  }

  bool updates_state() const { return !plan_.staged_states.empty(); }

  void finish() {
    // Gradients that this pass never reached are zero, and are reduced all the same: every rank counts on it.
    for (std::size_t u = 0; u < input_.units.units.size(); ++u) {
      std::vector<int> reduced;
      for (const int f : input_.units.units[u].flats) {
        if (!is_trainable(f) || is_finished_[static_cast<std::size_t>(f)] != 0) continue;
        if (plan_.is_sharded()) hold_gradients(static_cast<int>(u));
        reduce(f, reduced);
      }
      if (reduced.empty()) continue;
      release_gradients();
      held_gradients_ = std::move(reduced);
    }
    if (updates_state()) add(OpKind::UpdateState, StreamRole::Compute);
    release_gradients();
    // Peers may be behind; afterwards this rank may go. (Training ends with an update, which has one of its own.)
    if (plan_.kind != PassKind::Train && plan_.is_sharded()) add(OpKind::AwaitReaders, StreamRole::Gather);
    add(OpKind::PassEnd, StreamRole::Compute);
  }

  const Trace& trace_;
  const PlannerInput& input_;
  PassOutline outline_;
  Plan plan_;
  std::vector<int> values_lease_, gradients_lease_;  // by flat parameter; -1: none
  std::vector<char> is_finished_;                    // by flat parameter
  std::vector<char> is_gathered_;                    // by enclosing unit: for its forward
  std::vector<int> held_gradients_;                  // reduced, and not given back yet
  GatherQueue forward_queue_, backward_queue_;
  int position_ = 0;
  int after_mark_ = 0;
};

}  // namespace

Plan order_pass(const Trace& trace, const PlannerInput& input) { return PassPlanner(trace, input).run(); }

}  // namespace shoal::fsdp
