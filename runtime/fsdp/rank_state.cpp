#include "shoal/runtime/fsdp/rank_state.h"

#include "shoal/kernels/step_block.h"
#include "shoal/runtime/base/error.h"
#include "shoal/runtime/base/exact_sum.h"
#include "shoal/runtime/base/int_math.h"

namespace shoal::fsdp {
namespace {

constexpr std::int64_t kBlockBytes = round_up(sizeof(kernels::StepBlock), 64);
constexpr std::int64_t kWordsBytes = ExactSum::kWords * static_cast<std::int64_t>(sizeof(std::int64_t));

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
                     UnitTable unit_table, std::int64_t arena_bytes)
    : device(device_of_rank),
      units(std::move(unit_table)),
      rank(world.rank()),
      world_size(world.size()),
      gather_comm(world.split(0, world.rank(), "gather")),
      reduce_comm(world.split(0, world.rank(), "reduce")),
      is_gradient_written(model.parameters.size(), 0),
      arena(device_of_rank, arena_bytes),
      control(device_of_rank.allocate(control_bytes(), MemoryTag::Control)),
      streams(device_of_rank) {
  auto* base = static_cast<char*>(control.data());
  for (int i = 0; i < 2; ++i) {
    blocks[i] = Tensor(base + i * kBlockBytes, {sizeof(kernels::StepBlock)}, DType::U8);
  }
  words = Tensor(base + 2 * kBlockBytes, {ExactSum::kWords}, DType::I64);
  block = blocks[0];
}

std::int64_t RankState::control_bytes() { return 2 * kBlockBytes + kWordsBytes; }

}  // namespace shoal::fsdp
