#include "shoal/runtime/fsdp/plan_accesses.h"

#include <algorithm>
#include <array>

#include "shoal/runtime/base/dtype.h"

namespace shoal::fsdp {
namespace {

constexpr std::array<std::string_view, 9> kResourceNames = {"arena",           "parameters",    "gradients",
                                                            "optimizer state", "sums",          "step block",
                                                            "staged state",    "running state", "norm words"};

class AccessList {
 public:
  AccessList(const Plan& plan, const Trace& trace, const UnitTable& units, const EnqueueOrder& order)
      : plan_(plan), trace_(trace), units_(units), order_(order) {
    for (std::size_t i = 0; i < plan.ops.size(); ++i) {
      if (plan.ops[i].stream == StreamRole::Compute) compute_ops_.push_back(static_cast<int>(i));
    }
  }

  std::vector<Access> run() {
    add_activations();
    std::vector<int> values(units_.flats.size(), -1), gradients(units_.flats.size(), -1);  // leases held, by flat
    std::size_t event = 0;
    for (std::size_t i = 0; i < plan_.ops.size(); ++i) {
      const int now = order_.of_op[i];
      for (; event < trace_.events.size() && order_.of_event[event] < now; ++event) {
        add_use(static_cast<int>(event), values, gradients);
      }
      const PlanOp& op = plan_.ops[i];
      add_op(op, static_cast<int>(i));
      if (op.flat < 0 || op.lease < 0) continue;
      const auto flat = static_cast<std::size_t>(op.flat);
      if (op.kind == OpKind::Gather) values[flat] = op.lease;
      if (op.kind == OpKind::ReleaseValues) values[flat] = -1;
      if (op.kind == OpKind::HoldGradients) gradients[flat] = op.lease;
      if (op.kind == OpKind::FinishGradients) gradients[flat] = -1;
    }
    return std::move(accesses_);
  }

 private:
  std::int64_t shard_bytes(int flat) const {
    const FlatLayout& layout = units_.flats[static_cast<std::size_t>(flat)].layout;
    return (plan_.is_sharded() ? layout.shard_numel : layout.full_numel()) * dtype_bytes(DType::F32);
  }

  void add(Access access) {
    if (access.begin < access.end) accesses_.push_back(access);
  }

  void add_arena(Access access, int lease, std::int64_t begin, std::int64_t end) {
    const Lease& held = plan_.leases[static_cast<std::size_t>(lease)];
    access.resource = Resource::Arena;
    access.lease = lease;
    access.begin = held.offset + begin;
    access.end = held.offset + end;
    add(access);
  }

  // The model's own compute at a trace position.
  Access compute_at(int first_position, int last_position) const {
    Access access;
    access.trace_position = first_position;
    access.first = order_.of_event[static_cast<std::size_t>(first_position)];
    access.last = order_.of_event[static_cast<std::size_t>(last_position)];
    const auto comes_before = [&](int op, int place) { return order_.of_op[static_cast<std::size_t>(op)] < place; };
    const auto after_first = std::lower_bound(compute_ops_.begin(), compute_ops_.end(), access.first, comes_before);
    access.starts_after = after_first == compute_ops_.begin() ? -1 : *std::prev(after_first);
    const auto after_last = std::lower_bound(after_first, compute_ops_.end(), access.last, comes_before);
    access.done_by = after_last == compute_ops_.end() ? -1 : *after_last;
    return access;
  }

  void add_activations() {
    for (int lease = 0; lease < plan_.num_activation_leases; ++lease) {
      const Lease& held = plan_.leases[static_cast<std::size_t>(lease)];
      Access access = compute_at(held.begin + 1, held.end);
      access.writes = true;
      add_arena(access, lease, 0, held.bytes);
    }
  }

  void add_use(int position, const std::vector<int>& values, const std::vector<int>& gradients) {
    const TraceEvent& event = trace_.events[static_cast<std::size_t>(position)];
    if (event.kind != TraceKind::UseParameter && event.kind != TraceKind::WriteGradient) return;
    const ParameterPlace& place = units_.places[static_cast<std::size_t>(event.id)];
    const Segment& segment = units_.segment_of(place);
    Access access = compute_at(position + 1, position + 1);
    access.writes = event.kind == TraceKind::WriteGradient;
    access.flat = place.flat;
    access.begin = segment.offset * dtype_bytes(DType::F32);
    access.end = access.begin + segment.numel() * dtype_bytes(DType::F32);
    if (!plan_.is_sharded()) {
      access.resource = access.writes ? Resource::Gradients : Resource::Parameters;
      add(access);
      return;
    }
    const int lease = (access.writes ? gradients : values)[static_cast<std::size_t>(place.flat)];
    if (lease >= 0) add_arena(access, lease, access.begin, access.end);
  }

  void touch(const PlanOp& op, int index, Resource resource, bool writes, int flat = -1) {
    Access access;
    access.resource = resource;
    access.flat = flat;
    access.end = flat < 0 ? 1 : shard_bytes(flat);
    access.writes = writes;
    access.stream = op.stream;
    access.op = access.starts_after = access.done_by = index;
    access.first = access.last = order_.of_op[static_cast<std::size_t>(index)];
    add(access);
  }

  void touch_lease(const PlanOp& op, int index, bool writes) {
    Access access;
    access.flat = op.flat;
    access.writes = writes;
    access.stream = op.stream;
    access.op = access.starts_after = access.done_by = index;
    access.first = access.last = order_.of_op[static_cast<std::size_t>(index)];
    add_arena(access, op.lease, 0, plan_.leases[static_cast<std::size_t>(op.lease)].bytes);
  }

  void add_op(const PlanOp& op, int i) {
    switch (op.kind) {
      case OpKind::PassBegin:
        touch(op, i, plan_.kind == PassKind::Update ? Resource::NormWords : Resource::Sums, true);
        break;
      case OpKind::ForwardEnd:  // what the forward left
        touch(op, i, Resource::Sums, true);
        if (!plan_.staged_states.empty()) touch(op, i, Resource::StagedState, true);
        break;
      case OpKind::Gather:
        touch(op, i, Resource::Parameters, false, op.flat);
        touch_lease(op, i, true);
        break;
      case OpKind::FinishGradients:
        if (op.lease >= 0) {
          touch_lease(op, i, true);
        } else {
          touch(op, i, Resource::Gradients, true, op.flat);
        }
        break;
      case OpKind::Reduce:
        if (op.lease >= 0) touch_lease(op, i, false);
        touch(op, i, Resource::Gradients, true, op.flat);
        break;
      case OpKind::ReduceSums:
        touch(op, i, Resource::Sums, true);
        break;
      case OpKind::ReduceState:
        touch(op, i, Resource::StagedState, true);
        break;
      case OpKind::UpdateState:
        touch(op, i, Resource::StagedState, false);
        touch(op, i, Resource::RunningState, true);
        break;
      default:
        add_update_op(op, i);
    }
  }

  void add_update_op(const PlanOp& op, int i) {
    switch (op.kind) {
      case OpKind::GradientNorm:
        touch(op, i, Resource::Gradients, false, op.flat);
        touch(op, i, Resource::NormWords, true);
        break;
      case OpKind::ReduceNorm:
        touch(op, i, Resource::NormWords, true);
        break;
      case OpKind::FinishNorm:
        touch(op, i, Resource::NormWords, false);
        touch(op, i, Resource::Sums, false);
        touch(op, i, Resource::Control, true);
        break;
      case OpKind::AwaitReaders:
        if (plan_.kind != PassKind::Update) break;  // nothing here but the host waits for it
        for (std::size_t f = 0; f < units_.flats.size(); ++f) {
          if (units_.flats[f].is_trainable) touch(op, i, Resource::Parameters, false, static_cast<int>(f));
        }
        break;
      case OpKind::Update:
        touch(op, i, Resource::Gradients, false, op.flat);
        touch(op, i, Resource::Control, false);
        touch(op, i, Resource::Parameters, true, op.flat);
        touch(op, i, Resource::OptimizerState, true, op.flat);
        break;
      case OpKind::Publish:
        touch(op, i, Resource::Parameters, false, op.flat);
        break;
      default:  // marks, and operations that only give or take leases
        break;
    }
  }

  const Plan& plan_;
  const Trace& trace_;
  const UnitTable& units_;
  const EnqueueOrder& order_;
  std::vector<int> compute_ops_;
  std::vector<Access> accesses_;
};

}  // namespace

std::string_view resource_name(Resource resource) { return kResourceNames[static_cast<std::size_t>(resource)]; }

bool is_conflict(const Access& a, const Access& b) {
  if (!a.writes && !b.writes) return false;
  if (a.resource != b.resource || a.begin >= b.end || b.begin >= a.end) return false;
  return a.resource == Resource::Arena || a.flat == b.flat;
}

bool follows_earlier_passes(OpKind kind) { return kind != OpKind::AwaitReaders; }

std::vector<Access> list_accesses(const Plan& plan, const Trace& trace, const UnitTable& units,
                                  const EnqueueOrder& order) {
  return AccessList(plan, trace, units, order).run();
}

}  // namespace shoal::fsdp
