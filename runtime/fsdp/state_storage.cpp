#include "shoal/runtime/fsdp/state_storage.h"

#include "shoal/kernels/fill.h"
#include "shoal/kernels/moving_average.h"

namespace shoal::fsdp {

StateStorage::StateStorage(Device& device, Stream& stream, const std::vector<nn::StateBuffer*>& buffers,
                           std::span<const int> staged) {
  std::int64_t numel = 0;
  std::int64_t num_staged = 0;
  for (const nn::StateBuffer* buffer : buffers) numel += buffer->shape.numel();
  for (const int index : staged) num_staged += buffers[static_cast<std::size_t>(index)]->shape.numel();
  memory_ = device.allocate(persistent_bytes(numel, num_staged), MemoryTag::Buffers);
  running_ = Tensor(memory_.data(), {numel}, DType::F32);
  staged_ = Tensor(static_cast<float*>(memory_.data()) + numel, {num_staged}, DType::F32);
  kernels::fill(stream, staged_, 0.0F);
  std::int64_t begin = 0;
  std::int64_t staged_begin = 0;
  for (const nn::StateBuffer* buffer : buffers) {
    const std::int64_t length = buffer->shape.numel();
    View& view = views_.emplace_back();
    view.running = running_.flat_slice(begin, length).reshaped(buffer->shape);
    kernels::fill(stream, view.running, buffer->initial);
    if (!staged.empty() && staged.front() == buffer->index) {
      staged = staged.subspan(1);
      view.staged = staged_.flat_slice(staged_begin, length).reshaped(buffer->shape);
      add_run({begin, staged_begin, length, buffer->momentum});
      staged_begin += length;
    }
    begin += length;
  }
}

void StateStorage::add_run(const Run& run) {
  if (!runs_.empty() && runs_.back().running + runs_.back().numel == run.running &&
      runs_.back().momentum == run.momentum) {
    runs_.back().numel += run.numel;
  } else {
    runs_.push_back(run);
  }
}

void StateStorage::update(Stream& stream, int num_ranks) const {
  for (const Run& run : runs_) {
    kernels::update_moving_average(stream, staged_.flat_slice(run.staged, run.numel), num_ranks, run.momentum,
                                   running_.flat_slice(run.running, run.numel));
  }
}

}  // namespace shoal::fsdp
