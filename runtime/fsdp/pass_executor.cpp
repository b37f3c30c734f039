#include "shoal/runtime/fsdp/pass_executor.h"

#include <fmt/core.h>

#include <algorithm>

#include "shoal/kernels/fill.h"
#include "shoal/kernels/gradient_norm.h"
#include "shoal/kernels/step_block.h"
#include "shoal/runtime/base/error.h"

namespace shoal::fsdp {
namespace {

std::string describe_mark(const UnitTable& units, OpKind kind, int unit) {
  if (unit < 0) return std::string(op_kind_name(kind));
  return fmt::format("{} of unit '{}'", op_kind_name(kind), units.units[static_cast<std::size_t>(unit)].name);
}

}  // namespace

PassExecutor::PassExecutor(const Plan& plan, RankState& rank) : plan_(plan), rank_(rank) {
  for (int i = 0; i < plan.num_events; ++i) events_.push_back(rank.device.make_event(fmt::format("e{}", i)));
}

void PassExecutor::reach(OpKind mark, int unit) {
  std::size_t at = next_;
  while (at < plan_.ops.size() && !is_mark(plan_.ops[at].kind)) ++at;
  if (at == plan_.ops.size() || plan_.ops[at].kind != mark || plan_.ops[at].unit != unit) {
    const std::string expected =
        at == plan_.ops.size() ? "the end" : describe_mark(rank_.units, plan_.ops[at].kind, plan_.ops[at].unit);
    fail(ErrorCode::Unsupported,
         fmt::format(
             "[plan] the pass reached {} where its plan has {}; a forward must call the model's units in the order "
             "in which they were traced",
             describe_mark(rank_.units, mark, unit), expected));
  }
  while (next_ <= at) enqueue(plan_.ops[next_++]);
  while (next_ < plan_.ops.size() && !is_mark(plan_.ops[next_].kind)) enqueue(plan_.ops[next_++]);
  if (mark == OpKind::PassEnd) next_ = 0;
  rank_.device.set_scope(unit < 0 ? nullptr : rank_.units.units[static_cast<std::size_t>(unit)].name.c_str());
}

void PassExecutor::enqueue(const PlanOp& op) {
  Stream& stream = rank_.streams.of(op.stream);
  if (op.unit >= 0) rank_.device.set_scope(rank_.units.units[static_cast<std::size_t>(op.unit)].name.c_str());
  for (const int event : op.waits) stream.wait(*events_[static_cast<std::size_t>(event)]);
  perform(op, stream);
  if (op.records >= 0) stream.record(*events_[static_cast<std::size_t>(op.records)]);
}

void PassExecutor::perform(const PlanOp& op, Stream& stream) {
  switch (op.kind) {
    case OpKind::PassBegin:
      return begin_pass(stream);
    case OpKind::EnterForward:
    case OpKind::ExitForward:
    case OpKind::ForwardEnd:
    case OpKind::EnterBackward:
    case OpKind::ExitBackward:
    case OpKind::PassEnd:
      return;
    case OpKind::Gather:
      return gather(op, stream);
    case OpKind::ReleaseValues:
      return release_values(op);
    case OpKind::HoldGradients:
      return hold_gradients(op);
    case OpKind::FinishGradients:
      return finish_gradients(op, stream);
    case OpKind::Reduce:
      return reduce(op, stream);
    case OpKind::ReleaseGradients:
      return release_gradients(op);
    case OpKind::ReduceSums: {
      const Tensor sums = kernels::step_sums(rank_.block);
      return rank_.reduce_comm->all_reduce(stream, sums, sums, collectives::Fold::Replace);
    }
    case OpKind::ReduceState: {
      const Tensor& staged = rank_.state->all_staged();
      return rank_.reduce_comm->all_reduce(stream, staged, staged, collectives::Fold::Replace);
    }
    case OpKind::UpdateState:
      return rank_.state->update(stream, rank_.world_size);
    case OpKind::GradientNorm:
      return add_norm(op, stream);
    case OpKind::ReduceNorm:
      return rank_.reduce_comm->all_reduce(stream, rank_.words, rank_.words, collectives::Fold::Replace);
    case OpKind::FinishNorm:
      return kernels::finish_gradient_norm(stream, rank_.words, rank_.block);
    case OpKind::AwaitReaders:
      return rank_.gather_comm->await_readers(stream);
    case OpKind::Update:
      return update(op, stream);
    case OpKind::Publish:
      return rank_.gather_comm->publish(stream, flat(op).window, ++flat(op).version);
  }
}

void PassExecutor::begin_pass(Stream& stream) {
  std::ranges::fill(rank_.is_gradient_written, char{0});
  if (plan_.kind == PassKind::Update) stream.fill(rank_.words.data(), 0, rank_.words.num_bytes());
}

Tensor PassExecutor::lease_tensor(const PlanOp& op) const {
  const Lease& lease = plan_.leases[static_cast<std::size_t>(op.lease)];
  return Tensor(rank_.arena.at(lease.offset), {lease.bytes / dtype_bytes(DType::F32)}, DType::F32);
}

void PassExecutor::gather(const PlanOp& op, Stream& stream) {
  FlatState& state = flat(op);
  state.values = lease_tensor(op);
  rank_.device.ledger().acquire(MemoryTag::UnshardedParameters, state.values.num_bytes());
  rank_.gather_comm->gather(stream, state.window, state.values, state.version);
}

void PassExecutor::release_values(const PlanOp& op) {
  FlatState& state = flat(op);
  rank_.device.ledger().release(MemoryTag::UnshardedParameters, state.values.num_bytes());
  state.values = Tensor();
}

void PassExecutor::hold_gradients(const PlanOp& op) {
  FlatState& state = flat(op);
  state.gradients = lease_tensor(op);
  rank_.device.ledger().acquire(MemoryTag::UnshardedGradients, state.gradients.num_bytes());
}

void PassExecutor::finish_gradients(const PlanOp& op, Stream& stream) {
  const Tensor& gradients = flat(op).gradients;
  std::int64_t filled = 0;
  const auto fill_padding = [&](std::int64_t end) {
    if (rank_.padding) kernels::fill(stream, gradients.flat_slice(filled, end - filled), *rank_.padding);
  };
  for (const Segment& segment : rank_.units.flats[static_cast<std::size_t>(op.flat)].layout.segments) {
    fill_padding(segment.offset);
    filled = segment.offset + segment.numel();
    if (rank_.is_gradient_written[static_cast<std::size_t>(segment.parameter)] != 0) continue;
    kernels::fill(stream, gradients.flat_slice(segment.offset, segment.numel()), 0.0F);
  }
  fill_padding(gradients.numel());
}

void PassExecutor::reduce(const PlanOp& op, Stream& stream) {
  const FlatState& state = flat(op);
  if (rank_.is_sharded) {
    rank_.reduce_comm->reduce_scatter(stream, state.gradients, state.storage->gradients(), collectives::Fold::Replace);
  } else {
    rank_.reduce_comm->all_reduce(stream, state.gradients, state.gradients, collectives::Fold::Replace);
  }
}

void PassExecutor::release_gradients(const PlanOp& op) {
  FlatState& state = flat(op);
  rank_.device.ledger().release(MemoryTag::UnshardedGradients, state.gradients.num_bytes());
  state.gradients = Tensor();
}

void PassExecutor::add_norm(const PlanOp& op, Stream& stream) {
  const FlatStorage& storage = *flat(op).storage;
  for (const SegmentPart& part : storage.parts()) {
    kernels::add_sum_squares(
        stream, storage.gradients().flat_slice(part.flat_begin - storage.first_element(), part.numel), rank_.words);
  }
}

void PassExecutor::update(const PlanOp& op, Stream& stream) {
  const FlatState& state = flat(op);
  const FlatStorage& storage = *state.storage;
  for (const UpdateSlice& slice : state.slices) {
    state_slices_.clear();
    for (const Tensor& tensor : storage.state()) state_slices_.push_back(tensor.flat_slice(slice.begin, slice.numel));
    rank_.rule->update(stream, {.parameter = &slice.parameter,
                                .w = storage.weights().flat_slice(slice.begin, slice.numel),
                                .g = storage.gradients().flat_slice(slice.begin, slice.numel),
                                .state = state_slices_,
                                .block = rank_.block});
  }
}

}  // namespace shoal::fsdp
