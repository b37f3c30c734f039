#include "shoal/tests/support/plan_replay.h"

#include <utility>

#include "shoal/runtime/base/dtype.h"
#include "shoal/runtime/fsdp/enqueue_order.h"

namespace shoal::test {
namespace {

using fsdp::OpKind;
using fsdp::PassKind;
using fsdp::TraceKind;

/// Addresses that stand for memory: the arena first, everything else far behind it.
constexpr std::uintptr_t kArena = 1 << 20;
constexpr std::uintptr_t kPersistent = std::uintptr_t{1} << 40;

ByteRange range_at(std::uintptr_t address, std::int64_t bytes) {
  return {reinterpret_cast<const void*>(address), bytes};
}

}  // namespace

PlanReplay::PlanReplay(const PlanCase& planned)
    : planned_(planned),
      values_lease_(planned.units.flats.size(), -1),
      gradients_lease_(planned.units.flats.size(), -1) {
  for (const StreamRole role : {StreamRole::Compute, StreamRole::Gather, StreamRole::Reduce}) {
    streams_.push_back(checker_.add_stream(stream_role_name(role)));
  }
  std::uintptr_t next = kPersistent;
  const auto reserve = [&](std::int64_t bytes) {
    const ByteRange range = range_at(next, bytes);
    next += static_cast<std::uintptr_t>(bytes) + 64;
    return range;
  };
  for (const fsdp::FlatParameter& flat : planned.units.flats) {
    const std::int64_t numel = planned.train.is_sharded() ? flat.layout.shard_numel : flat.layout.full_numel();
    parameter_ranges_.push_back(reserve(numel * dtype_bytes(DType::F32)));
    gradient_ranges_.push_back(reserve(numel * dtype_bytes(DType::F32)));
  }
  sums_ = reserve(24);
  staged_ = reserve(planned.model.state_numel() * dtype_bytes(DType::F32));
  words_ = reserve(568);
}

void PlanReplay::touch(StreamRole stream, const char* name, ByteRanges reads, ByteRanges writes) {
  checker_.run(streams_[static_cast<std::size_t>(stream)], name, nullptr, reads, writes);
}

ByteRange PlanReplay::lease_range(const fsdp::Plan& plan, int lease) const {
  const fsdp::Lease& held = plan.leases[static_cast<std::size_t>(lease)];
  return range_at(kArena + static_cast<std::uintptr_t>(held.offset), held.bytes);
}

void PlanReplay::run(const fsdp::Plan& plan) {
  const fsdp::Trace& trace = planned_.trace_of(plan);
  const fsdp::EnqueueOrder order = fsdp::enqueue_order(plan, trace);
  events_.resize(static_cast<std::size_t>(plan.num_events));
  std::size_t event = 0;
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    for (; event < trace.events.size() && order.of_event[event] < order.of_op[i]; ++event) follow_event(plan, event);
    const fsdp::PlanOp& op = plan.ops[i];
    const int stream = streams_[static_cast<std::size_t>(op.stream)];
    for (const int awaited : op.waits) checker_.wait(stream, events_[static_cast<std::size_t>(awaited)]);
    follow_op(plan, i);
    if (op.records >= 0) checker_.record(stream, events_[static_cast<std::size_t>(op.records)]);
  }
}

void PlanReplay::follow_event(const fsdp::Plan& plan, std::size_t position) {
  const fsdp::TraceEvent& event = planned_.trace_of(plan).events[position];
  switch (event.kind) {
    case TraceKind::Acquire:
      touch(StreamRole::Compute, "first touch", {}, {lease_range(plan, event.id)});
      break;
    case TraceKind::Release:
      touch(StreamRole::Compute, "last touch", {lease_range(plan, event.id)}, {});
      break;
    case TraceKind::ForwardEnd:
      touch(StreamRole::Compute, "loss", {}, {sums_, plan.kind == PassKind::Train ? staged_ : ByteRange{}});
      break;
    case TraceKind::UseParameter:
    case TraceKind::WriteGradient: {
      const bool writes = event.kind == TraceKind::WriteGradient;
      const fsdp::ParameterPlace& place = planned_.units.places[static_cast<std::size_t>(event.id)];
      const auto flat = static_cast<std::size_t>(place.flat);
      ByteRange whole = writes ? gradients(place.flat) : parameters(place.flat);
      if (plan.is_sharded()) whole = lease_range(plan, (writes ? gradients_lease_ : values_lease_)[flat]);
      const fsdp::Segment& segment =
          planned_.units.flats[flat].layout.segments[static_cast<std::size_t>(place.segment)];
      const ByteRange part{static_cast<const std::byte*>(whole.begin) + segment.offset * dtype_bytes(DType::F32),
                           segment.numel() * dtype_bytes(DType::F32)};
      touch(StreamRole::Compute, writes ? "backward" : "forward", writes ? ByteRanges{} : ByteRanges{part},
            writes ? ByteRanges{part} : ByteRanges{});
      break;
    }
    default:
      break;
  }
}

void PlanReplay::follow_op(const fsdp::Plan& plan, std::size_t index) {
  const fsdp::PlanOp& op = plan.ops[index];
  const auto flat = static_cast<std::size_t>(op.flat < 0 ? 0 : op.flat);
  const ByteRange lease = op.lease < 0 ? ByteRange{} : lease_range(plan, op.lease);
  const char* name = fsdp::op_kind_name(op.kind).data();
  switch (op.kind) {
    case OpKind::PassBegin:
      return touch(op.stream, name, {}, {plan.kind == PassKind::Update ? words_ : sums_});
    case OpKind::Gather:
      values_lease_[flat] = op.lease;
      return touch(op.stream, name, {parameters(op.flat)}, {lease});
    case OpKind::HoldGradients:
      gradients_lease_[flat] = op.lease;
      return;
    case OpKind::FinishGradients:
      return touch(op.stream, name, {}, {op.lease < 0 ? gradients(op.flat) : lease});
    case OpKind::Reduce:
      return touch(op.stream, name, {lease}, {gradients(op.flat)});
    case OpKind::ReduceSums:
      return touch(op.stream, name, {sums_}, {sums_});
    case OpKind::ReduceState:
      return touch(op.stream, name, {staged_}, {staged_});
    case OpKind::UpdateState:
      return touch(op.stream, name, {staged_}, {});
    case OpKind::GradientNorm:
      return touch(op.stream, name, {gradients(op.flat), words_}, {words_});
    case OpKind::ReduceNorm:
      return touch(op.stream, name, {words_}, {words_});
    case OpKind::FinishNorm:
      return touch(op.stream, name, {words_, sums_}, {});
    case OpKind::AwaitReaders:  // stands for peers' reads of every shard that will be written
      for (std::size_t f = 0; f < planned_.units.flats.size(); ++f) {
        if (planned_.units.flats[f].is_trainable) touch(op.stream, name, {parameters(static_cast<int>(f))}, {});
      }
      return;
    case OpKind::Update:
      return touch(op.stream, name, {gradients(op.flat)}, {parameters(op.flat)});
    case OpKind::Publish:
      return touch(op.stream, name, {parameters(op.flat)}, {});
    default:  // marks and releases touch nothing
      return;
  }
}

}  // namespace shoal::test
