#include "shoal/runtime/fsdp/rank_state.h"

#include "shoal/kernels/step_block.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/exact_sum.h"
#include "shoal/runtime/base/int_math.h"
#include "shoal/runtime/fsdp/plan_cost.h"

namespace shoal::fsdp {
namespace {

constexpr std::int64_t kBlockBytes = round_up(sizeof(kernels::StepBlock), 64);

}  // namespace

RankStreams::RankStreams(Device& device)
    : compute(device.make_stream(StreamRole::Compute, "compute")),
      gather(device.make_stream(StreamRole::Gather, "gather")),
      reduce(device.make_stream(StreamRole::Reduce, "reduce")),
      readback(device.make_stream(StreamRole::Copy, "readback")) {}

Stream& RankStreams::of(StreamRole role) const {
  switch (role) {
    case StreamRole::Compute:
      return *compute;
    case StreamRole::Gather:
      return *gather;
    case StreamRole::Reduce:
      return *reduce;
    case StreamRole::Copy:
      return *readback;
  }
  fail(ErrorCode::Internal, "[stream] unknown role");
}

RankState::RankState(Device& device_of_rank, collectives::Communicator& world, const ModelSpec& model,
                     UnitTable unit_table, const Options& options)
    : device(device_of_rank),
      units(std::move(unit_table)),
      rank(world.rank()),
      world_size(world.size()),
      is_sharded(shards_parameters(options.strategy, world.size())),
      is_gradient_written(model.parameters.size(), 0),
      arena(device_of_rank, options.arena_bytes),
      control(device_of_rank.allocate(control_bytes(), MemoryTag::Control)),
      padding(options.padding),
      gather_comm(world.split(0, world.rank(), "gather")),
      reduce_comm(world.split(0, world.rank(), "reduce")),
      streams(device_of_rank) {
  auto* base = static_cast<char*>(control.data());
  for (int i = 0; i < 2; ++i) {
    blocks[i] = Tensor(base + i * kBlockBytes, {sizeof(kernels::StepBlock)}, DType::U8);
  }
  words = Tensor(base + 2 * kBlockBytes, {ExactSum::kWords}, DType::I64);
  block = blocks[0];
}

void RankState::drop_leases() {
  if (!is_sharded) return;
  const auto drop = [&](Tensor& held, MemoryTag tag) {
    if (held.is_defined()) device.ledger().release(tag, held.num_bytes());
    held = Tensor();
  };
  for (FlatState& flat : flats) {
    drop(flat.values, MemoryTag::UnshardedParameters);
    drop(flat.gradients, MemoryTag::UnshardedGradients);
  }
}

void RankState::abort(const std::string& reason) noexcept {
  for (collectives::Communicator* communicator : {gather_comm.get(), reduce_comm.get()}) {
    try {
      communicator->abort(reason);
    } catch (const std::exception&) {
      continue;  // a peer is stuck in a copy; the reason for the abort says more
    }
  }
}

std::int64_t RankState::control_bytes() { return 2 * kBlockBytes + kNormWordsBytes; }

}  // namespace shoal::fsdp
